#define _GNU_SOURCE
#include "base/spilled_array.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_file(void)
{
    const char *named = getenv("TMPDIR");
    const char *const folders[] = {named && named[0] == '/' ? named : "/var/tmp", "/var/tmp",
                                   "/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0)
            return fd + 1;
        char *name = xasprintf("%s/poet-XXXXXX", folders[i]);
        fd = mkostemp(name, O_CLOEXEC); /* not every file system supports O_TMPFILE */
        if (fd >= 0)
            unlink(name);
        free(name);
        if (fd >= 0)
            return fd + 1;
    }
    return -1;
}

/* Allocates the disk blocks before they are written to, so that a full disk is reported here. */
static uint8_t *spilled_array_map_file(struct spilled_array *s)
{
    if (!s->file)
        s->file = open_file();
    off_t at = (off_t)(s->count * SPILLED_CHUNK_BYTES);
    if (s->file < 0 || posix_fallocate(s->file - 1, at, (off_t)SPILLED_CHUNK_BYTES) != 0)
        return NULL;
    void *bytes =
        mmap(NULL, SPILLED_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->file - 1, at);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static size_t spilled_array_memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t most = pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 16 : SPILLED_MEMORY_BYTES;
    return most < SPILLED_MEMORY_BYTES ? SPILLED_MEMORY_BYTES : most;
}

static uint8_t *spilled_array_allocate(struct spilled_array *s)
{
    void *bytes =
        mmap(NULL, SPILLED_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    s->own_bytes += SPILLED_CHUNK_BYTES;
    return bytes;
}

static bool add_piece(struct spilled_array *s)
{
    struct spilled_array_chunk piece = {NULL, false};
    if (s->own_bytes >= SPILLED_MEMORY_BYTES)
        piece.bytes = spilled_array_map_file(s);
    if (!piece.bytes && s->own_bytes < spilled_array_memory_limit())
        piece = (struct spilled_array_chunk){spilled_array_allocate(s), true};
    if (!piece.bytes)
        return false;
    s->pieces = array_reserve(s->pieces, &s->room, s->count + 1, sizeof *s->pieces);
    s->pieces[s->count++] = piece;
    s->used = s->count == 1 ? 8 : 0; /* place 0 is never used */
    return true;
}

void *spilled_array_append(struct spilled_array *s, size_t size, uint64_t *place)
{
    size = (size + 7) & ~(size_t)7;
    if ((!s->count || s->used + size > SPILLED_CHUNK_BYTES) && !add_piece(s))
        return NULL;
    *place = (s->count - 1) * SPILLED_CHUNK_BYTES + s->used;
    s->used += size;
    return s->pieces[s->count - 1].bytes + *place % SPILLED_CHUNK_BYTES;
}

static void spilled_array_release_file_range(struct spilled_array *s, size_t i)
{
    struct spilled_array_chunk *piece = &s->pieces[i];
    munmap(piece->bytes, SPILLED_CHUNK_BYTES);
    piece->bytes = NULL;
    if (piece->own)
        s->own_bytes -= SPILLED_CHUNK_BYTES;
    else
        fallocate(s->file - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(i * SPILLED_CHUNK_BYTES), (off_t)SPILLED_CHUNK_BYTES);
}

void spilled_array_drop_chunk(struct spilled_array *s, size_t piece)
{
    for (; s->first < piece && s->first + 1 < s->count; s->first++)
        spilled_array_release_file_range(s, s->first);
}

void spilled_array_free(struct spilled_array *s)
{
    for (size_t i = s->first; i < s->count; i++)
        munmap(s->pieces[i].bytes, SPILLED_CHUNK_BYTES);
    if (s->file > 0)
        close(s->file - 1);
    free(s->pieces);
    *s = (struct spilled_array){0};
}

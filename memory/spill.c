#define _GNU_SOURCE
#include "memory/spill.h"

#include "memory/memory.h"

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
        char *name = memory_printed("%s/poet-XXXXXX", folders[i]);
        fd = mkostemp(name, O_CLOEXEC); /* not every file system knows files without a name */
        if (fd >= 0)
            unlink(name);
        free(name);
        if (fd >= 0)
            return fd + 1;
    }
    return -1;
}

/* The disk's blocks are taken before they are written to: where there are none, that is told here. */
static uint8_t *from_file(struct spill *s)
{
    if (!s->file)
        s->file = open_file();
    off_t at = (off_t)(s->count * SPILL_PIECE);
    if (s->file < 0 || posix_fallocate(s->file - 1, at, (off_t)SPILL_PIECE) != 0)
        return NULL;
    void *bytes = mmap(NULL, SPILL_PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, s->file - 1, at);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static size_t most_own(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t most = pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 16 : SPILL_OWN;
    return most < SPILL_OWN ? SPILL_OWN : most;
}

static uint8_t *from_memory(struct spill *s)
{
    void *bytes =
        mmap(NULL, SPILL_PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    s->own_bytes += SPILL_PIECE;
    return bytes;
}

static bool add_piece(struct spill *s)
{
    struct spill_piece piece = {NULL, false};
    if (s->own_bytes >= SPILL_OWN)
        piece.bytes = from_file(s);
    if (!piece.bytes && s->own_bytes < most_own())
        piece = (struct spill_piece){from_memory(s), true};
    if (!piece.bytes)
        return false;
    s->pieces = grow(s->pieces, &s->room, s->count + 1, sizeof *s->pieces);
    s->pieces[s->count++] = piece;
    s->used = s->count == 1 ? 8 : 0; /* no place is 0 */
    return true;
}

void *spill_put(struct spill *s, size_t size, uint64_t *place)
{
    size = (size + 7) & ~(size_t)7;
    if ((!s->count || s->used + size > SPILL_PIECE) && !add_piece(s))
        return NULL;
    *place = (s->count - 1) * SPILL_PIECE + s->used;
    s->used += size;
    return s->pieces[s->count - 1].bytes + *place % SPILL_PIECE;
}

static void give_back(struct spill *s, size_t i)
{
    struct spill_piece *piece = &s->pieces[i];
    munmap(piece->bytes, SPILL_PIECE);
    piece->bytes = NULL;
    if (piece->own)
        s->own_bytes -= SPILL_PIECE;
    else
        fallocate(s->file - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(i * SPILL_PIECE),
                  (off_t)SPILL_PIECE);
}

void spill_drop(struct spill *s, size_t piece)
{
    for (; s->first < piece && s->first + 1 < s->count; s->first++)
        give_back(s, s->first);
}

void spill_free(struct spill *s)
{
    for (size_t i = s->first; i < s->count; i++)
        munmap(s->pieces[i].bytes, SPILL_PIECE);
    if (s->file > 0)
        close(s->file - 1);
    free(s->pieces);
    *s = (struct spill){0};
}

/* Opener of trace files, and reader of single chunks.  Files are read, not mapped: a file that is
 * truncated meanwhile would raise SIGBUS.  They may be written meanwhile, too. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/tracefile/tracefile_state.h"
#include "server/tracefile/checkpoints.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

size_t tracefile_read_at(int fd, void *bytes, size_t size, uint64_t at)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* ---- single chunks ---- */

uint8_t *chunk_get(const struct tracefile *file, unsigned kind, uint64_t place, struct chunk *chunk)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    if (place < TRACEFILE_HEAD_BYTES || place > INT64_MAX ||
        tracefile_read_at(file->fd, head, sizeof head, place) != sizeof head ||
        !chunk_read_head(head, chunk) || chunk->kind != kind)
        return NULL;
    struct stat st; /* a size that the file cannot have is not allocated */
    if (chunk->size > (1u << 20) &&
        (fstat(file->fd, &st) < 0 || (uint64_t)st.st_size < place + chunk->size))
        return NULL;
    uint8_t *data =
        /* not xmalloc(): the file states the size, which damage can make too large */
        malloc((size_t)chunk->size + 8);
    if (!data)
        return NULL;
    if (tracefile_read_at(file->fd, data, chunk->size, place + sizeof head) != chunk->size ||
        !chunk_is_whole(head, data, chunk->size)) {
        free(data);
        return NULL;
    }
    memset(data + chunk->size, 0, 8);
    chunk->data = data;
    return data;
}

uint8_t *tracefile_get(struct tracefile *file, unsigned kind, uint64_t place, size_t *size)
{
    struct chunk chunk;
    if (file->parts.bytes.size && place >= file->parts.place) { /* still in memory */
        uint64_t at = place - file->parts.place, size_known = file->parts.bytes.size;
        const uint8_t *head = file->parts.bytes.data + at;
        if (at > size_known || size_known - at < CHUNK_HEAD_BYTES ||
            !chunk_read_head(head, &chunk) || chunk.size > size_known - at - CHUNK_HEAD_BYTES)
            return NULL;
        uint8_t *data = xmalloc((size_t)chunk.size + 8);
        memcpy(data, head + CHUNK_HEAD_BYTES, chunk.size);
        memset(data + chunk.size, 0, 8);
        *size = chunk.size;
        return data;
    }
    uint8_t *data = chunk_get(file, kind, place, &chunk);
    *size = data ? chunk.size : 0;
    return data;
}

/* ---- opening ---- */

const char *tracefile_head_error(const uint8_t *head)
{
    const char *why = tracehead_error(head);
    return why                                            ? why
           : chunk_get_u32(head + 8) != TRACEFILE_VERSION ? "written by a different version of Poet"
                                                          : NULL;
}

struct tracefile *tracefile_open(const char *path, const char **why)
{
    uint8_t head[TRACEFILE_HEAD_BYTES];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a FIFO must not block */
    *why = NULL;
    if (fd < 0 || fstat(fd, &st) < 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode) || tracefile_read_at(fd, head, sizeof head, 0) != sizeof head)
        *why = "not a Poet trace file";
    else
        *why = tracefile_head_error(head);
    if (*why) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct tracefile *file = xcalloc(1, sizeof *file);
    file->fd = fd;
    memcpy(file->name, head + 12, TRACEFILE_NAME_BYTES);
    pthread_mutex_init(&file->lock, NULL);
    file->size = (uint64_t)st.st_size;
    file->reading = true;
    file->locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    flock(fd, LOCK_UN); /* a server may want to lock it, to resume it */
    file->end = file->parts.place = PARTS_IN_MEMORY;
    return file;
}

bool tracefile_exists(const struct tracefile *file)
{
    struct stat st;
    return file && fstat(file->fd, &st) == 0 && st.st_nlink > 0;
}

bool tracefile_is_written(const struct tracefile *file) { return file->locked; }

const char *tracefile_run(const struct tracefile *file) { return file->name; }

bool tracefile_read_back(const struct tracefile *file, uint64_t at, void *bytes, size_t size)
{
    return tracefile_read_at(file->fd, bytes, size, at) == size;
}

bool checkpoint_slot_read(const uint8_t *head, unsigned i, uint64_t *place, uint64_t *serial)
{
    const uint8_t *slot = head + SLOT_AT + SLOT_BYTES_HEAD * i;
    *place = chunk_get_u64(slot);
    *serial = chunk_get_u64(slot + 8);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return *place != 0;
#else
    return *place && checkpoint_slot_checksum(slot, i) == chunk_get_u64(slot + 16);
#endif
}

enum tracefile_holds tracefile_held(const uint8_t *head)
{
    uint8_t holds = head[TRACEFILE_HOLDS_OFFSET];
    bool known = (head[TRACEFILE_HOLDS_OFFSET + 1] ^ holds) == 0xff;
    return known && holds <= TRACEFILE_HOLDS_WHOLE     ? (enum tracefile_holds)holds
           : holds || head[TRACEFILE_HOLDS_OFFSET + 1] ? TRACEFILE_HOLDS_OWN
                                                       : TRACEFILE_HOLDS_SENT;
}

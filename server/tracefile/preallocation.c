/* Preallocated space of a trace file, so that the last chunks of a run, which report what was
 * lost, fit on a full disk. */
#define _GNU_SOURCE
#include "server/tracefile/preallocation.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LAST_WORDS (64u << 10)
#define AHEAD (256u << 10) /* bytes that are preallocated at once, if there is enough space */

uint64_t preallocation_bytes(const struct tracefile *file)
{
    uint64_t eighth = file->region_bytes / 8;
    return eighth < LAST_WORDS ? eighth : LAST_WORDS;
}

/* Returns the maximum size of a file of this process. */
static uint64_t preallocation_file_size_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                   : INT64_MAX;
}

/* Preallocates a range; returns false if there is no space.  Not every file system supports this;
 * then only writing shows whether there is space. */
static bool preallocation_allocate(const struct tracefile *file, uint64_t from, uint64_t to)
{
    return fallocate(file->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) == 0 ||
           (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
}

bool preallocation_at(struct tracefile *file, uint64_t begin, uint64_t bytes, uint64_t end)
{
    uint64_t need = begin + bytes + preallocation_bytes(file),
             limit = preallocation_file_size_limit();
    need = need < end ? need : end;
    if (need <= file->reserved)
        return true;
    if (need > limit) {
        errno = EFBIG;
        return false;
    }
    uint64_t more = need + (bytes > AHEAD / 4 ? 4 * bytes : AHEAD);
    more = more < end ? more : end;
    more = more < limit ? more : limit;
    if (preallocation_allocate(file, begin, more)) {
        file->reserved = more;
        return true;
    }
    if (!preallocation_allocate(file, begin, need))
        return false;
    file->reserved = need;
    return true;
}

bool preallocation_reserve(struct tracefile *file, uint64_t bytes)
{
    pthread_mutex_lock(&file->lock);
    uint64_t at = file->at, end = file->region.end;
    pthread_mutex_unlock(&file->lock);
    return preallocation_at(file, at, bytes, end);
}

/* Returns preallocated, unused space to the file system. */
void preallocation_give_back(struct tracefile *file)
{
    struct stat st;
    if (!file->reading && fstat(file->fd, &st) == 0 && ftruncate(file->fd, st.st_size) < 0)
        return;
    file->reserved = 0;
}

uint64_t tracefile_last_room(struct tracefile *file)
{
    pthread_mutex_lock(&file->lock);
    uint64_t end = file->reserved < file->region.end ? file->reserved : file->region.end;
    pthread_mutex_unlock(&file->lock);
    uint64_t used = file->at + file->journal.size + NEXT_BYTES;
    return end > used ? end - used : 0;
}

uint64_t tracefile_room(const struct tracefile *file)
{
    struct statvfs fs;
    uint64_t limit = preallocation_file_size_limit(), used = file->at + preallocation_bytes(file);
    uint64_t room = fstatvfs(file->fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
    limit = limit > used ? limit - used : 0;
    return room < limit ? room : limit;
}

#define _GNU_SOURCE
#include "clients/libpoet/replay/schedule_file.h"

#include "clients/libpoet/replay/schedule_validate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct schedule_head *schedule_file_map(const char *path, uint64_t *bytes)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *s = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        *bytes = (uint64_t)st.st_size;
        s = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return s == MAP_FAILED ? NULL : s;
}

struct schedule_head *schedule_file_open(const char *path, const char **wrong)
{
    uint64_t bytes = 0;
    struct schedule_head *s = schedule_file_map(path, &bytes);
    *wrong = s ? schedule_validate_file(s, bytes) : strerror(errno);
    if (s && *wrong)
        munmap(s, bytes);
    return *wrong ? NULL : s;
}

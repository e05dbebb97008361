#define _GNU_SOURCE
#include "clients/symbols/safe_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int safe_open_reject_type(const struct stat *st)
{
    errno = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
    return -1;
}

int safe_open_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode))
        return safe_open_reject_type(&st);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) { /* replaced since stat */
        close(fd);
        return safe_open_reject_type(&st);
    }
    return fd;
}

char *safe_open_read(const char *path, size_t limit, size_t *size)
{
    struct stat st;
    int fd = safe_open_file(path);
    if (fd < 0)
        return NULL;
    char *text = NULL;
    size_t n = 0;
    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size <= limit &&
        (text = malloc((size_t)st.st_size + 1)))
        for (ssize_t got; n < (size_t)st.st_size; n += (size_t)got)
            if ((got = read(fd, text + n, (size_t)st.st_size - n)) <= 0)
                break;
    if (text)
        text[n] = 0;
    else
        errno = EFBIG;
    int e = errno;
    close(fd);
    errno = e;
    if (text && size)
        *size = n;
    return text;
}

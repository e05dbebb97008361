#define _GNU_SOURCE
#include "server/osmetrics/stream_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STREAM_LINK_BYTES 256u

static bool stream_holder_read_link(int directory, const char *name, char text[STREAM_LINK_BYTES])
{
    ssize_t n = readlinkat(directory, name, text, STREAM_LINK_BYTES);
    bool whole = n > 0 && (size_t)n < STREAM_LINK_BYTES;
    text[whole ? n : 0] = 0;
    return whole;
}

static size_t stream_holder_read_file(int directory, const char *name, char *text, size_t room)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, room - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* Gets the descriptor at which a call waits, and whether it reads; returns false if it is another
 * call. */
static bool stream_holder_call(const char *call, uint64_t *descriptor, bool *reads)
{
    int64_t number;
    if (sscanf(call, "%" SCNd64 " %" SCNx64, &number, descriptor) != 2)
        return false;
    *reads = number == SYS_read || number == SYS_readv || number == SYS_mq_timedreceive;
    return *reads || number == SYS_write || number == SYS_writev || number == SYS_mq_timedsend;
}

/* Returns whether a descriptor may be used to write, or to read. */
static bool stream_holder_is_open_for(int process, const char *descriptor, bool writing)
{
    char name[32], text[512];
    unsigned flags;
    snprintf(name, sizeof name, "fdinfo/%.16s", descriptor);
    stream_holder_read_file(process, name, text, sizeof text);
    const char *at = strstr(text, "flags:");
    if (!at || sscanf(at, "flags: %o", &flags) != 1)
        return false;
    return (flags & O_ACCMODE) != (writing ? O_RDONLY : O_WRONLY);
}

static bool stream_holder_has(int process, const char *object, bool writing)
{
    int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;
    for (struct dirent *e; directory && !found && (e = readdir(directory)) != NULL;) {
        char link[STREAM_LINK_BYTES];
        found = *e->d_name != '.' && stream_holder_read_link(dirfd(directory), e->d_name, link) &&
                strcmp(link, object) == 0 && stream_holder_is_open_for(process, e->d_name, writing);
    }
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
    return found;
}

static void stream_holder_read_name(int process, char name[STREAM_HOLDER_NAME])
{
    char text[64];
    stream_holder_read_file(process, "comm", text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    snprintf(name, STREAM_HOLDER_NAME, "%.15s", text);
}

pid_t stream_holder_find(const struct stream_wait *wait, char name[STREAM_HOLDER_NAME])
{
    char link[32], object[STREAM_LINK_BYTES];
    uint64_t descriptor;
    bool reads;
    pid_t found = 0;
    if (!stream_holder_call(wait->call, &descriptor, &reads))
        return 0;
    snprintf(link, sizeof link, "fd/%" PRIu64, descriptor);
    if (!stream_holder_read_link(wait->process, link, object) ||
        (strncmp(object, "pipe:[", 6) != 0 && *object != '/'))
        return 0;
    DIR *all = opendir("/proc");
    for (struct dirent *e; all && !found && (e = readdir(all)) != NULL;) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid <= 0 || pid == wait->pid || pid == getpid() || wait->is_traced(wait->context, pid))
            continue;
        int process = openat(dirfd(all), e->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (process >= 0 && stream_holder_has(process, object, reads)) {
            stream_holder_read_name(process, name);
            found = pid;
        }
        if (process >= 0)
            close(process);
    }
    if (all)
        closedir(all);
    return found;
}

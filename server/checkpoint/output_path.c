#define _GNU_SOURCE
#include "server/checkpoint/output_path.h"

#include "base/alloc.h"
#include "server/eventloop/server_log.h"
#include "server/tracefile/tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool output_path_fail(struct error *error, const char *output, const char *why)
{
    error_set(error, "%s: %s", output, why);
    return false;
}

/* Renames a file to FILE-before.poet, or to the first such name with a number that is free; never
 * replaces a file. */
char *output_path_set_aside(const char *path, const char *reason, struct error *error)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (!dot || (slash && dot < slash))
        dot = path + strlen(path);
    int e = EEXIST;
    for (unsigned i = 1; i < 1000 && e == EEXIST; i++) {
        char *aside = i == 1 ? xasprintf("%.*s-before%s", (int)(dot - path), path, dot)
                             : xasprintf("%.*s-before-%u%s", (int)(dot - path), path, i, dot);
        e = renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) == 0 ? 0 : errno;
        if (!e) {
            server_log("%s: %s; its contents are kept as %s", path, reason, aside);
            return aside;
        }
        free(aside);
    }
    output_path_fail(error, path, strerror(e));
    return NULL;
}

/* Reads the head of a file; returns the number of bytes, or -1. */
static ssize_t read_head(const char *path, uint8_t *head)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, head, TRACEFILE_HEAD_BYTES);
    if (fd >= 0)
        close(fd);
    return got;
}

bool output_path_is_written(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool written = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return written;
}

static bool output_path_move_aside(const char *path, struct error *error)
{
    uint8_t head[TRACEFILE_HEAD_BYTES] = {0};
    ssize_t got = read_head(path, head);
    if (got < 0) { /* creating the file will report why */
        struct stat st;
        if (errno == EISDIR)
            return output_path_fail(error, path, "is a directory; name a file, or append /");
        /* (a dangling link is replaced, as one to a trace file is) */
        if (errno == ENOENT && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
            unlink(path);
        return true;
    }
    if (got != 0 && !tracehead_is_trace(head))
        return output_path_fail(error, path, "exists and is not a trace file; not overwritten");
    if (!output_path_is_written(path) && tracefile_held(head) == TRACEFILE_HOLDS_OWN) {
        char *aside = output_path_set_aside(path, "its server was killed", error);
        free(aside);
        return aside != NULL;
    }
    unlink(path);
    return true;
}

bool output_path_holds_sent(const char *output)
{
    uint8_t head[TRACEFILE_HEAD_BYTES] = {0};
    size_t n = output ? strlen(output) : 0;
    return n && output[n - 1] != '/' && read_head(output, head) == (ssize_t)sizeof head &&
           tracehead_is_trace(head) && tracefile_held(head) == TRACEFILE_HOLDS_SENT;
}

bool output_path_clear(const char *output, struct error *error)
{
    size_t n = output ? strlen(output) : 0;
    if (!n)
        return true;
    if (output[n - 1] != '/')
        return output_path_move_aside(output, error);
    return mkdir(output, 0777) == 0 || errno == EEXIST ||
           output_path_fail(error, output, strerror(errno));
}

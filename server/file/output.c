#define _GNU_SOURCE
#include "server/file/output.h"

#include "memory/memory.h"
#include "server/loop/log.h"
#include "server/store/tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *output, const char *why)
{
    fprintf(stderr, "poet server: %s: %s\n", output, why);
    return false;
}

/* FILE-before.poet, or the first such name that is free; no file that is there is replaced. */
static bool move_aside(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (!dot || (slash && dot < slash))
        dot = path + strlen(path);
    int e = EEXIST;
    for (unsigned i = 1; i < 1000 && e == EEXIST; i++) {
        char *aside = i == 1 ? memory_printed("%.*s-before%s", (int)(dot - path), path, dot)
                             : memory_printed("%.*s-before-%u%s", (int)(dot - path), path, i, dot);
        e = renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) == 0 ? 0 : errno;
        if (!e)
            log_line("%s: its server was killed: what it holds is kept as %s", path, aside);
        free(aside);
    }
    return !e || fail(path, strerror(e));
}

static bool make_way(const char *path)
{
    uint8_t head[TRACEFILE_HEAD_BYTES] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true; /* whoever makes it finds out why */
    ssize_t got = read(fd, head, sizeof head);
    bool written = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    if (got != 0 && memcmp(head, TRACEFILE_MAGIC, sizeof TRACEFILE_MAGIC - 1) != 0)
        return fail(path, "is there and is no trace file: not overwritten");
    if (!written && tracefile_held(head) == HOLDS_OWN)
        return move_aside(path);
    unlink(path);
    return true;
}

bool output_clear(const char *output)
{
    size_t n = output ? strlen(output) : 0;
    if (!n)
        return true;
    if (output[n - 1] != '/')
        return make_way(output);
    return mkdir(output, 0777) == 0 || errno == EEXIST || fail(output, strerror(errno));
}

#define _GNU_SOURCE
#include "clients/snapshot/proc_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void proc_file_path(char path[PATH_MAX], const char *format, va_list arguments)
{
    char name[PATH_MAX - 8];
    vsnprintf(name, sizeof name, format, arguments);
    snprintf(path, PATH_MAX, "/proc/%s", name);
}

size_t proc_file_read(char *to, size_t room, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    proc_file_path(path, format, arguments);
    va_end(arguments);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, to, room - 1) : -1;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    to[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

size_t proc_file_link(char *to, size_t room, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    proc_file_path(path, format, arguments);
    va_end(arguments);
    ssize_t got = readlink(path, to, room - 1);
    to[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

bool proc_file_each(const char *name, void (*visit)(void *user, uint32_t number), void *user)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%s", name);
    DIR *directory = opendir(path);
    if (!directory)
        return false;
    for (struct dirent *e; (e = readdir(directory)) != NULL;) {
        char *end;
        unsigned long number = strtoul(e->d_name, &end, 10);
        if (end != e->d_name && !*end && number <= UINT32_MAX)
            visit(user, (uint32_t)number);
    }
    closedir(directory);
    return true;
}

struct proc_status proc_file_status(uint32_t pid)
{
    struct proc_status status = {0};
    char text[4096];
    size_t size = proc_file_read(text, sizeof text, "%u/status", pid);
    if (size)
        proc_text_status(text, size, &status);
    return status;
}

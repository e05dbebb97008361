#define _GNU_SOURCE
#include "clients/connection/install_paths.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool install_path_find(const char *name, int mode, char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    for (char *slash; (slash = strrchr(self, '/')) != NULL && slash > self;) {
        *slash = 0;
        if ((size_t)snprintf(path, size, "%s/%s", self, name) < size && access(path, mode) == 0)
            return true;
    }
    return false;
}

const char *install_path_poet(char *path, size_t size)
{
    return install_path_find("bin/poet", X_OK, path, size) ? path : "poet";
}

bool install_path_library(char *path, size_t size)
{
    static const char *const names[] = {"lib/libpoet.so.0", "lib/" POET_MULTIARCH "/libpoet.so.0",
                                        "lib64/libpoet.so.0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (install_path_find(names[i], R_OK, path, size))
            return true;
    return false;
}

bool install_path_program(const char *name, char *path, size_t size)
{
    char below[64];
    snprintf(below, sizeof below, "libexec/poet/%s", name);
    return install_path_find(below, X_OK, path, size);
}

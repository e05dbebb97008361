#define _GNU_SOURCE
#include "clients/connection/run_discovery.h"

#include "wire/endpoint.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void run_discovery_state(char *path, size_t size)
{
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (xdg && *xdg)
        snprintf(path, size, "%s/poet", xdg);
    else
        snprintf(path, size, "%s/.local/state/poet", home ? home : "");
}

static bool is_trace_name(const char *name)
{
    size_t n = strlen(name);
    return n >= 6 && strcmp(name + n - 5, ".poet") == 0;
}

void run_discovery_files(const char *directory, around_take *take, void *user)
{
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (is_trace_name(e->d_name) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            take(user, strcmp(directory, ".") == 0 ? e->d_name : path);
    }
    if (d)
        closedir(d);
}

void run_discovery_endpoints(around_take *take, void *user)
{
    char directory[256], endpoint[600], first[600] = "";
    struct error ignored;
    if (endpoint_default(first, sizeof first, &ignored))
        take(user, first);
    if (!endpoint_directory(directory, sizeof directory, &ignored))
        return;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, "poet-", 5) != 0 || !strstr(e->d_name, ".sock"))
            continue;
        snprintf(endpoint, sizeof endpoint, "unix:%s/%s", directory, e->d_name);
        if (strcmp(endpoint, first) != 0)
            take(user, endpoint);
    }
    if (d)
        closedir(d);
}

bool run_discovery_find(const char *name, char *path, size_t size)
{
    char state[PATH_MAX - 300];
    struct stat st;
    run_discovery_state(state, sizeof state);
    for (int i = 0; !strchr(name, '/') && stat(name, &st) < 0 && i < 2; i++) {
        int n = snprintf(path, size, "%s/%s%s", state, name, i ? ".poet" : "");
        if ((size_t)n < size && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    snprintf(path, size, "%s", name);
    return stat(name, &st) == 0;
}

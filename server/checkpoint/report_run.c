#define _GNU_SOURCE
#include "server/checkpoint/report_run.h"

#include "server/eventloop/server_log.h"

#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Returns bin/poet of the installation that the server is in (libexec/poet/poet-server), else
 * "poet", to be found in PATH. */
static const char *find_poet(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - sizeof "/bin/poet");
    char *slash = NULL;
    path[n > 0 ? n : 0] = 0;
    for (int up = 0; up < 3 && (slash = strrchr(path, '/')) != NULL; up++)
        *slash = 0;
    strcat(path, "/bin/poet");
    return access(path, X_OK) == 0 ? path : "poet";
}

/* Resets all signals to their default actions, as for a program that is started from a shell. */
static void plain_signals(posix_spawnattr_t *attributes)
{
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

void report_run_begin(const struct run *run)
{
    static char path[PATH_MAX], name[] = "poet", verb[] = "report", option[] = "-o";
    if (!run->report || !run->file.path)
        return;
    const char *poet = find_poet(path, sizeof path);
    char *arguments[] = {name,        verb, run->file.path, *run->report ? option : NULL,
                         run->report, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    if (!*run->report)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    plain_signals(&attributes);
    int error = posix_spawnp(&child, poet, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        server_log("%s: no report: %s: %s", run->file.path, poet, strerror(error));
}

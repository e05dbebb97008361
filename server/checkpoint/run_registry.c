#define _GNU_SOURCE
#include "server/checkpoint/run_registry.h"

#include "base/alloc.h"
#include "server/checkpoint/checkpoint_write.h"
#include "server/checkpoint/trace_replay.h"
#include "server/eventloop/event_loop.h"
#include "server/run/untraced_reasons.h"
#include "server/tracefile/tracefile.h"
#include "wire/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *state_directory(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *full = state && *state ? xasprintf("%s/poet", state)
                                 : xasprintf("%s/.local/state/poet", home ? home : "/tmp");
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    mkdir(full, 0700);
    return full;
}

char *run_registry_directory(const char *name)
{
    char *state = state_directory(), *full = xasprintf("%s/%s/", state, name);
    mkdir(full, 0700);
    free(state);
    return full;
}

static char *file_for(const struct run_registry *runs, const char *key)
{
    const char *output = runs->output;
    char *state = NULL, stamp[32];
    if (output && *output && output[strlen(output) - 1] != '/')
        return xstrdup(output);
    time_t now = time(NULL);
    struct tm tm;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
    char name[128];
    size_t size = strcspn(key, "@"), most = text_cut(key, sizeof name - 1);
    snprintf(name, sizeof name, "%.*s", (int)(size < most ? size : most), key);
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '_' : *c;
    if (!output)
        state = state_directory();
    const char *directory = output ? output : state;
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    char *path = xasprintf("%s%s%s-%s.poet", directory, slash, name, stamp);
    free(state);
    return path;
}

void run_registry_add(struct run_registry *runs, struct run *run)
{
    runs->items = array_reserve(runs->items, &runs->room, runs->count + 1, sizeof *runs->items);
    runs->items[runs->count++] = run;
}

void run_registry_touch(struct run_registry *runs, struct run *run)
{
    run->eviction.last_use = ++runs->askings;
}

/* Moves aside a run that an earlier server began and that no agent has continued: another run
 * takes its file's name. */
static void run_registry_move_aside(const struct run_registry *runs, const char *path)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct run *run = runs->items[i];
        if (!run->status.unclaimed || strcmp(run->file.path, path) != 0)
            continue;
        struct error error;
        char *aside = output_path_set_aside(path, "another run begins", &error);
        if (aside) {
            free(run->file.path);
            run->file.path = aside;
        } else {
            server_log("%s", error.text);
        }
    }
}

static struct run *begin_run(struct run_registry *runs, const char *key, char *why, size_t size)
{
    run_registry_evict(runs);
    char *path = file_for(runs, key), *used = NULL;
    run_registry_move_aside(runs, path);
    struct tracefile *trace = tracefile_create(path, key, &used);
    if (!trace) {
        snprintf(why, size, "%s: %s", path, strerror(errno));
        free(path);
        return NULL;
    }
    free(path);
    struct run *run = run_new(key, (unsigned)runs->count + 1, trace);
    run->file.path = used;
    run->status.live = true;
    run_set_wait_for_missing(run);
    checkpoint_begin(run, runs->keep_bytes);
    run_registry_add(runs, run);
    if (!runs->quiet)
        server_log("run %u \"%s\" begins: %s", run->number, run->name, run->file.path);
    return run;
}

struct run *run_registry_find(struct run_registry *runs, const char *key, char *why, size_t size)
{
    for (size_t i = 0; i < runs->count; i++)
        if (!runs->items[i]->eviction.evicted && strcmp(runs->items[i]->key, key) == 0)
            return runs->items[i];
    return begin_run(runs, key, why, size);
}

/* ---- eviction ----
 *
 * Of most ended runs only the name, the file and two counts remain in memory, and a run is read
 * again from its file when a viewer opens it. */

#define AWAKE_MOST 8u /* maximum number of ended runs that remain in memory */

/* Returns whether the run can be evicted.  A run that a program could still join must remain; a
 * name with @ belongs to one program and its descendants, which have all ended.  A run can be
 * evicted after its file was deleted, too, and is lost then. */
static bool run_eviction_may_evict(const struct run *run)
{
    return !run->eviction.evicted && run->status.finished && !run->programs.connected &&
           !run->eviction.viewers && strchr(run->key, '@') &&
           (run->file.deleted || tracefile_exists(run->trace));
}

static struct run *run_eviction_empty_run(const struct run *run)
{
    struct run *shell = run_new(run->key, run->number, NULL);
    shell->file.path = xstrdup(run->file.path);
    shell->clock.wall_ns = run->clock.wall_ns;
    shell->clock.ahead_ns = run->clock.ahead_ns;
    shell->eviction.evicted = true;
    shell->eviction.events = order_figures(run->order).events;
    shell->eviction.lost = run_lost(run);
    return shell;
}

void run_registry_evict(struct run_registry *runs)
{
    for (;;) {
        size_t count = 0, oldest = 0;
        for (size_t i = 0; i < runs->count; i++) {
            if (!run_eviction_may_evict(runs->items[i]))
                continue;
            if (!count ||
                runs->items[i]->eviction.last_use < runs->items[oldest]->eviction.last_use)
                oldest = i;
            count++;
        }
        if (count <= AWAKE_MOST)
            return;
        struct run *shell = run_eviction_empty_run(runs->items[oldest]);
        run_free(runs->items[oldest]);
        runs->items[oldest] = shell;
    }
}

struct run *run_registry_reload(struct run_registry *runs, size_t index, const char **why)
{
    struct run *shell = runs->items[index];
    shell->eviction.last_use = ++runs->askings;
    if (!shell->eviction.evicted)
        return shell;
    struct run *run = trace_replay(shell->file.path, why);
    if (!run)
        return NULL;
    if (strncmp(run->key, shell->key, TRACEFILE_NAME_BYTES - 1) != 0) {
        run_free(run);
        *why = "the file is of another run now";
        return NULL;
    }
    run->number = shell->number;
    run->status.finished = true;
    run->eviction.last_use = shell->eviction.last_use;
    free(run->key);
    free(run->name);
    run->key = shell->key;
    run->name = shell->name;
    shell->key = shell->name = NULL;
    run_free(shell);
    return runs->items[index] = run;
}

void run_registry_check_files(struct run_registry *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct run *run = runs->items[i];
        if (!run->status.live || run->file.deleted || tracefile_exists(run->trace))
            continue;
        run->file.deleted = true;
        server_log(
            "%s was deleted: the recording will be lost when the server exits, or %u other runs "
            "have ended",
            run->file.path, AWAKE_MOST);
        free(run->file.damage);
        run->file.damage =
            xstrdup("the file was deleted: the recording will be lost when the server exits");
    }
}

/* ---- reports ----
 *
 * `poet report` makes each in a process of its own, since only clients resolve names. */

extern char **environ;

#define PREPARE_NICE 19 /* of what no user waits for */

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

/* Starts `poet report` of a run.  quiet: without output. Returns the process, 0 after an error. */
static pid_t run_registry_spawn_report(const struct run *run, char *output, bool quiet)
{
    static char path[PATH_MAX], name[] = "poet", verb[] = "report", option[] = "-o";
    const char *poet = find_poet(path, sizeof path);
    char *arguments[] = {name, verb, run->file.path, output ? option : NULL, output, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    if (quiet) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    } else if (!output) {
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    }
    plain_signals(&attributes);
    int error = posix_spawnp(&child, poet, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error && !quiet)
        server_log("%s: no report: %s: %s", run->file.path, poet, strerror(error));
    return error ? 0 : child;
}

void run_registry_report(const struct run *run)
{
    if (run->report && run->file.path)
        run_registry_spawn_report(run, *run->report ? run->report : NULL, false);
}

void run_registry_prepare(const struct run *run)
{
    const char *wanted = getenv("POET_PREPARE_REPORT");
    pid_t child = wanted && strcmp(wanted, "0") == 0 ? 0
                                                     : run_registry_spawn_report(run, NULL, true);
    if (child > 0) /* its own server inherits that */
        setpriority(PRIO_PROCESS, (id_t)child, PREPARE_NICE);
}

/* ---- output path ---- */

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

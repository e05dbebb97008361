/* poet rm: deletes saved runs; only trace files, and none that is still being written. */
#define _GNU_SOURCE
#include "clients/cli/command.h"

#include "base/alloc.h"
#include "clients/connection/note_file.h"
#include "clients/connection/session.h"
#include "config/options.h"
#include "wire/trace_header.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct rm_options {
    const struct command *command;
    bool force, pretend;
    double older_days; /* < 0: any age */
    char **paths;
    size_t count, room;
    uint64_t bytes; /* size of the removed files */
    size_t removed;
    bool failed;
};

static void rm_report_failure(struct rm_options *r, const char *path, const char *why)
{
    command_fail(r->command, "%s: %s", path, why);
    r->failed = true;
}

static bool is_trace(int fd)
{
    char head[TRACEHEAD_MAGIC_BYTES];
    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head && tracehead_is_trace(head);
}

/* Returns a descriptor of a trace that can be removed; -1 after reporting why it cannot. */
static int open_trace(struct rm_options *r, const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    const char *why = fd < 0
                          ? errno == ELOOP ? "symbolic link; name the file itself" : strerror(errno)
                      : fstat(fd, st) < 0                      ? strerror(errno)
                      : !S_ISREG(st->st_mode) || !is_trace(fd) ? "not a Poet trace file"
                      : flock(fd, LOCK_EX | LOCK_NB) < 0       ? "run is live (still being written)"
                                                               : NULL;
    if (!why)
        return fd;
    rm_report_failure(r, path, why);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Asks the user, unless with --force or if nothing is deleted anyway; any answer but yes is no. */
static bool rm_user_confirms(const struct rm_options *r, const char *path, uint64_t bytes)
{
    char *line = NULL;
    size_t room = 0;
    if (r->force || r->pretend)
        return true;
    fprintf(stderr, "poet rm: delete %s (%.1f MB)? ", path, (double)bytes / 1e6);
    bool yes = getline(&line, &room, stdin) > 0 && (*line == 'y' || *line == 'Y');
    free(line);
    return yes;
}

/* Removes the files beside a trace. */
static void rm_remove_beside(const char *path)
{
    size_t size = strlen(path) + TRACEHEAD_BESIDE_BYTES;
    char *results = xmalloc(size);
    note_file_forget(path);
    tracehead_beside(results, size, path, TRACEHEAD_RESULTS);
    unlink(results);
    free(results);
}

static void remove_one(struct rm_options *r, const char *path)
{
    struct stat st, now;
    int fd = open_trace(r, path, &st);
    if (fd < 0)
        return;
    uint64_t bytes = (uint64_t)st.st_blocks * 512;
    if (rm_user_confirms(r, path, bytes)) {
        /* the confirmed file, not another one that now has its name */
        if (lstat(path, &now) < 0 || now.st_ino != st.st_ino || now.st_dev != st.st_dev) {
            rm_report_failure(r, path, "file was replaced in the meantime");
        } else if (!r->pretend && unlink(path) < 0) {
            rm_report_failure(r, path, strerror(errno));
        } else {
            r->removed++;
            r->bytes += bytes;
            if (!r->pretend)
                rm_remove_beside(path);
            if (r->pretend)
                puts(path);
        }
    }
    close(fd);
}

static bool old_enough(const struct rm_options *r, const char *path)
{
    struct stat st;
    return r->older_days < 0 || (stat(path, &st) == 0 &&
                                 difftime(time(NULL), st.st_mtime) >= r->older_days * 24 * 60 * 60);
}

/* Adds an old run to the list; silently skips files that are not traces, and live runs. */
static void rm_remove_old(void *user, const char *path)
{
    struct rm_options *r = user;
    if (!old_enough(r, path))
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd >= 0 && is_trace(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        r->paths = array_reserve(r->paths, &r->room, r->count + 1, sizeof *r->paths);
        r->paths[r->count++] = xstrdup(path);
    }
    if (fd >= 0)
        close(fd);
}

static void rm_remove_named(struct rm_options *r, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    if (!run_discovery_find(name, path, sizeof path) && lstat(path, &st) < 0)
        rm_report_failure(r, name,
                          strcmp(name, "latest") == 0 ? "name the run itself; see poet ls"
                                                      : strerror(ENOENT));
    else if (old_enough(r, path)) {
        r->paths = array_reserve(r->paths, &r->room, r->count + 1, sizeof *r->paths);
        r->paths[r->count++] = xstrdup(path);
    }
}

enum { OLDER = 256 };

static const struct option_row rm_rows[] = {
    OPTION_SETS('f', struct rm_options, force), OPTION_SETS('n', struct rm_options, pretend), {0}};

static error_t rm_parse_option(int key, char *value, struct argp_state *state)
{
    struct rm_options *r = state->input;
    char *end;
    switch (key) {
    case OLDER:
        r->older_days = strtod(value, &end);
        if (end != value && !*end && r->older_days >= 0 && r->older_days < 1e6)
            return 0;
        command_usage(r->command, "--older-than: invalid number of days \"%s\"", value);
        return EINVAL;
    default:
        return option_rows_parse(rm_rows, key, value, state);
    }
}

static int rm_run(const struct command *command, int argc, char **argv)
{
    struct rm_options r = {.command = command, .older_days = -1};
    char state[PATH_MAX];
    int first, status = command_read(command, argc, argv, &r, &first);
    if (status != OPTIONS_READ)
        return status;
    if (first == argc && r.older_days < 0)
        return command_usage(command, "missing operand: RUN, or --older-than DAYS; see poet ls");
    run_discovery_state(state, sizeof state);
    if (first == argc)
        run_discovery_files(state, rm_remove_old, &r);
    for (int i = first; i < argc; i++)
        rm_remove_named(&r, argv[i]);
    for (size_t i = 0; i < r.count; i++) {
        remove_one(&r, r.paths[i]);
        free(r.paths[i]);
    }
    free(r.paths);
    if (r.count || !r.failed)
        fprintf(stderr, "%s %zu run%s, %.1f MB\n", r.pretend ? "would delete" : "deleted",
                r.removed, plural_suffix(r.removed), (double)r.bytes / 1e6);
    return r.failed ? EXIT_FAILED : EXIT_DONE;
}

static const struct argp_option options[] = {
    {"force", 'f', NULL, 0, "do not ask for confirmation", 0},
    {"dry-run", 'n', NULL, 0, "list only, delete nothing", 0},
    {"older-than", OLDER, "DAYS", 0,
     "only runs last written more than DAYS days ago; without RUN: all of them in the state "
     "directory (~/.local/state/poet)",
     0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = rm_parse_option,
    .args_doc = "RUN...\n--older-than DAYS",
    .doc =
        "Delete the trace files of runs, named as in `poet ls`, with a prompt for each, and print "
        "the disk space freed.  Live runs and files that are not traces are refused.",
    .children = options_children};

const struct command command_rm = {
    .name = "rm", .summary = "delete saved runs", .run = rm_run, .argp = &argp};

#define _GNU_SOURCE
#include "server/checkpoint/run_registry.h"

#include "base/alloc.h"
#include "server/checkpoint/output_path.h"
#include "server/checkpoint/idle_eviction.h"
#include "server/checkpoint/checkpoint_write.h"
#include "server/eventloop/server_log.h"
#include "wire/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
    idle_evict_finished(runs);
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

#define _GNU_SOURCE
#include "server/file/runs.h"

#include "memory/memory.h"
#include "server/file/output.h"
#include "server/file/rest.h"
#include "server/file/saving.h"
#include "server/loop/log.h"
#include "wire/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static char *state_directory(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *full = state && *state ? memory_printed("%s/poet", state)
                                 : memory_printed("%s/.local/state/poet", home ? home : "/tmp");
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    mkdir(full, 0700);
    return full;
}

char *runs_directory(const char *name)
{
    char *state = state_directory(), *full = memory_printed("%s/%s/", state, name);
    mkdir(full, 0700);
    free(state);
    return full;
}

static char *file_for(const struct runs *runs, const char *key)
{
    const char *output = runs->output;
    char *state = NULL, stamp[32];
    if (output && *output && output[strlen(output) - 1] != '/')
        return memory_copied(output);
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
    char *path = memory_printed("%s%s%s-%s.poet", directory, slash, name, stamp);
    free(state);
    return path;
}

void runs_add(struct runs *runs, struct run *run)
{
    runs->items = grow(runs->items, &runs->room, runs->count + 1, sizeof *runs->items);
    runs->items[runs->count++] = run;
}

void runs_asked(struct runs *runs, struct run *run) { run->asked = ++runs->askings; }

/* A run that a server before this one began, and nobody has told more of: another one takes its file's name. */
static void make_way(const struct runs *runs, const char *path)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct run *run = runs->items[i];
        if (!run->left || strcmp(run->file, path) != 0)
            continue;
        struct error error;
        char *aside = output_aside(path, "another run begins", &error);
        if (aside) {
            free(run->file);
            run->file = aside;
        } else {
            log_line("%s", error.text);
        }
    }
}

static struct run *begin_run(struct runs *runs, const char *key, char *why, size_t size)
{
    rest_finished(runs);
    char *path = file_for(runs, key), *used = NULL;
    make_way(runs, path);
    struct tracefile *trace = tracefile_create(path, key, &used);
    if (!trace) {
        snprintf(why, size, "%s: %s", path, strerror(errno));
        free(path);
        return NULL;
    }
    free(path);
    struct run *run = run_new(key, (unsigned)runs->count + 1, trace);
    run->file = used;
    run->live = true;
    run_patient(run);
    saving_begin(run, runs->keep_bytes);
    runs_add(runs, run);
    if (!runs->quiet)
        log_line("run %u \"%s\" begins: %s", run->number, run->name, run->file);
    return run;
}

struct run *runs_find(struct runs *runs, const char *key, char *why, size_t size)
{
    for (size_t i = 0; i < runs->count; i++)
        if (!runs->items[i]->resting && strcmp(runs->items[i]->key, key) == 0)
            return runs->items[i];
    return begin_run(runs, key, why, size);
}

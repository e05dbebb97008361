/* The runs of a server: which file each one goes into. */
#define _GNU_SOURCE
#include "server/rest.h"
#include "server/saving.h"
#include "server/server.h"
#include "wire/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static char *state_directory(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (!state || !*state) {
        if (asprintf(&path, "%s/.local/state", home ? home : "/tmp") < 0)
            return NULL;
    } else {
        path = strdup(state);
    }
    char *full = NULL;
    if (!path || asprintf(&full, "%s/poet", path) < 0)
        full = NULL;
    for (char *slash = full ? strchr(full + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    if (full)
        mkdir(full, 0700);
    free(path);
    return full;
}

static char *file_for(const struct server *server, const char *key)
{
    const char *output = server->options.output;
    char *path = NULL, *state = NULL, stamp[32];
    if (output && *output && output[strlen(output) - 1] != '/')
        return strdup(output);
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
    const char *directory = output ? output : state ? state : ".";
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%s-%s.poet", directory, slash, name, stamp) < 0)
        path = NULL;
    free(state);
    return path;
}

static struct run *begin_run(struct peer *peer, const char *key)
{
    struct server *server = peer->server;
    rest_finished(server);
    char *path = file_for(server, key), *used = NULL;
    struct tracefile *trace = path ? tracefile_create(path, key, &used) : NULL;
    if (!trace) {
        peer_refuse(peer, "%s: %s", path ? path : "the trace file", strerror(errno));
        free(path);
        return NULL;
    }
    free(path);
    struct run *run = run_new(key, (unsigned)server->run_count + 1, trace);
    run->file = used;
    run->live = true;
    run_patient(run);
    run->saving = saving_new(server->options.keep_bytes);
    server->runs = grow(server->runs, &server->run_room, server->run_count + 1,
                        sizeof *server->runs);
    server->runs[server->run_count++] = run;
    if (!server->options.quiet)
        log_line("run %u \"%s\" begins: %s", run->number, run->name, run->file);
    return run;
}

struct run *runs_find(struct peer *peer, const char *key)
{
    for (size_t i = 0; i < peer->server->run_count; i++)
        if (!peer->server->runs[i]->resting && strcmp(peer->server->runs[i]->key, key) == 0)
            return peer->server->runs[i];
    return begin_run(peer, key);
}

/* Evicts ended runs from memory: for most of them only the name, the file and two counts remain,
 * and a run is read again from its file when a viewer opens it. */
#define _GNU_SOURCE
#include "server/checkpoint/idle_eviction.h"

#include "base/alloc.h"
#include "server/checkpoint/trace_replay.h"
#include "server/eventloop/server_log.h"
#include "server/run/untraced_reasons.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AWAKE_MOST 8u /* maximum number of ended runs that remain in memory */

/* Returns whether the run can be evicted.  A run that a program could still join must remain; a
 * name with @ belongs to one program and its descendants, which have all ended.  A run whose file
 * was deleted can be evicted, too, and is lost then. */
static bool idle_eviction_may_evict(const struct run *run)
{
    return !run->resting && run->finished && !run->connected && !run->watchers &&
           strchr(run->key, '@') && (run->deleted || tracefile_exists(run->trace));
}

static struct run *idle_eviction_empty_run(const struct run *run)
{
    struct run *shell = run_new(run->key, run->number, NULL);
    shell->file = xstrdup(run->file);
    shell->wall_ns = run->wall_ns;
    shell->clock_ahead_ns = run->clock_ahead_ns;
    shell->resting = true;
    shell->rest_events = order_figures(run->order).events;
    shell->rest_lost = run_lost(run);
    return shell;
}

void idle_evict_finished(struct run_registry *runs)
{
    for (;;) {
        size_t count = 0, oldest = 0;
        for (size_t i = 0; i < runs->count; i++) {
            if (!idle_eviction_may_evict(runs->items[i]))
                continue;
            if (!count || runs->items[i]->asked < runs->items[oldest]->asked)
                oldest = i;
            count++;
        }
        if (count <= AWAKE_MOST)
            return;
        struct run *shell = idle_eviction_empty_run(runs->items[oldest]);
        run_free(runs->items[oldest]);
        runs->items[oldest] = shell;
    }
}

struct run *idle_reload_run(struct run_registry *runs, size_t index, const char **why)
{
    struct run *shell = runs->items[index];
    shell->asked = ++runs->askings;
    if (!shell->resting)
        return shell;
    struct run *run = trace_replay(shell->file, why);
    if (!run)
        return NULL;
    if (strncmp(run->key, shell->key, TRACEFILE_NAME_BYTES - 1) != 0) {
        run_free(run);
        *why = "the file is of another run now";
        return NULL;
    }
    run->number = shell->number;
    run->finished = true;
    run->asked = shell->asked;
    free(run->key);
    free(run->name);
    run->key = shell->key;
    run->name = shell->name;
    shell->key = shell->name = NULL;
    run_free(shell);
    return runs->items[index] = run;
}

void idle_check_deleted_files(struct run_registry *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct run *run = runs->items[i];
        if (!run->live || run->deleted || tracefile_exists(run->trace))
            continue;
        run->deleted = true;
        server_log(
            "%s was deleted: the recording will be lost when the server exits, or %u other runs "
            "have ended",
            run->file, AWAKE_MOST);
        free(run->damage);
        run->damage =
            xstrdup("the file was deleted: the recording will be lost when the server exits");
    }
}

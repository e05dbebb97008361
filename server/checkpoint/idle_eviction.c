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
    return !run->eviction.evicted && run->status.finished && !run->programs.connected &&
           !run->eviction.viewers && strchr(run->key, '@') &&
           (run->file.deleted || tracefile_exists(run->trace));
}

static struct run *idle_eviction_empty_run(const struct run *run)
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

void idle_evict_finished(struct run_registry *runs)
{
    for (;;) {
        size_t count = 0, oldest = 0;
        for (size_t i = 0; i < runs->count; i++) {
            if (!idle_eviction_may_evict(runs->items[i]))
                continue;
            if (!count ||
                runs->items[i]->eviction.last_use < runs->items[oldest]->eviction.last_use)
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

void idle_check_deleted_files(struct run_registry *runs)
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

#include "server/run/state_timeline.h"

#include "base/alloc.h"
#include "server/run/state_tracker.h"

#include <stdlib.h>

static const struct timeline_callbacks *timeline_sources[TIMELINE_SOURCES] = {
    [TIMELINE_ORDER] = &state_tracker_source,
};

void timeline_set_source(enum timeline_source source, const struct timeline_callbacks *teller)
{
    timeline_sources[source] = teller;
}

struct state_timelines {
    struct timeline_progress {
        struct summary_tree *pyramid; /* NULL: not built yet */
        void *state;
        uint64_t known, made; /* made: the source's number (made()) when it began */
    } progress[TIMELINE_SOURCES];
};

static void timeline_progress_free(struct timeline_progress *progress, enum timeline_source source)
{
    if (!progress->pyramid)
        return;
    timeline_sources[source]->free(progress->state);
    summary_tree_free(progress->pyramid);
    *progress = (struct timeline_progress){0};
}

static void state_timelines_free(void *state)
{
    struct state_timelines *all = state;
    for (unsigned i = 0; i < TIMELINE_SOURCES; i++)
        timeline_progress_free(&all->progress[i], i);
    free(all);
}

static struct timeline_progress *timeline_progress_of(const struct run *run,
                                                      enum timeline_source source)
{
    struct run *cache = (struct run *)(uintptr_t)run; /* its observable state does not change */
    struct state_timelines *all = run_addon_make(&cache->addons, RUN_ADDON_STATE_TIMELINES,
                                                 sizeof *all, state_timelines_free);
    struct timeline_progress *progress = &all->progress[source];
    if (progress->pyramid && progress->made != timeline_sources[source]->made(run))
        timeline_progress_free(progress, source);
    if (!progress->pyramid)
        *progress =
            (struct timeline_progress){summary_tree_new(), timeline_sources[source]->begin(run), 0,
                                       timeline_sources[source]->made(run)};
    return progress;
}

bool timeline_build(const struct run *run, enum timeline_source source, uint64_t *budget)
{
    struct timeline_progress *progress = timeline_progress_of(run, source);
    uint64_t first = order_first(run->order), count = order_count(run->order);
    if (first && source == TIMELINE_ORDER) /* (other timelines are rebuilt then) */
        summary_tree_discard(progress->pyramid, first);
    progress->known = progress->known < first ? first : progress->known;
    while (progress->known < count && *budget)
        progress->known = timeline_sources[source]->learn(progress->state, progress->pyramid,
                                                          progress->known, budget);
    return progress->known >= count && progress->made == timeline_sources[source]->made(run);
}

uint64_t timeline_known(const struct run *run, enum timeline_source source)
{
    const struct state_timelines *all = run_addon(&run->addons, RUN_ADDON_STATE_TIMELINES);
    return all ? all->progress[source].known : 0;
}

const struct summary_tree *timeline_tree(const struct run *run, enum timeline_source source)
{
    const struct state_timelines *all = run_addon(&run->addons, RUN_ADDON_STATE_TIMELINES);
    return all ? all->progress[source].pyramid : NULL;
}

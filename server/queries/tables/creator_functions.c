#include "server/queries/tables/creator_functions.h"

#include "server/run/run.h"
#include "server/timing/call_contexts.h"
#include "server/timing/intervals.h"

#include <stdlib.h>

#define CREATOR_FUNCTIONS_DEPTH 64u /* maximum length of the chain of creators */

/* Returns the call context of the creating event, which is that of the creator; 0 for the thread
 * itself, or if not known. */
static uint32_t creator_functions_context(const struct run *run, uint64_t position,
                                          uint32_t creator)
{
    if (position == NO_POSITION || position < order_first(run->order))
        return 0;
    struct order_event e = order_event(run->order, position);
    const struct site *site = site_table_at(&run->sites, e.site);
    return site && site->thread == creator ? site->context : 0;
}

static void creator_functions_load(struct creator_functions *creators,
                                   const struct table_view *view, struct scope_numbers *scopes,
                                   const struct call_context_thread *creator)
{
    if (creators->line == creator->line && creators->count == creator->count)
        return;
    free(creators->scopes);
    creators->scopes = scope_numbers_of(scopes, view->run, creator);
    creators->line = creator->line;
    creators->count = creator->count;
}

void creator_functions_within(struct creator_functions *creators, const struct table_view *view,
                              struct scope_numbers *scopes, uint32_t line, struct map *within)
{
    for (uint32_t depth = 0; depth < CREATOR_FUNCTIONS_DEPTH; depth++) {
        const struct thread_timeline *course = intervals_for_thread(view->measured, line);
        if (!course || !course->maker)
            return;
        const struct call_context_thread *creator =
            call_contexts_of_line(&view->run->contexts, course->maker);
        uint32_t c =
            creator ? creator_functions_context(view->run, course->made, course->maker) : 0;
        if (c && c < creator->count)
            creator_functions_load(creators, view, scopes, creator);
        for (; creator && c && c < creator->count; c = creator->items[c].sums.is.parent)
            map_put(within, creators->scopes[c], 0, creators);
        line = course->maker;
    }
}

void creator_functions_free(struct creator_functions *creators)
{
    free(creators->scopes);
    *creators = (struct creator_functions){0};
}

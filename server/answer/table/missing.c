/* What a table cannot tell of, as it is not there (any more): said below each. */
#include "server/answer/table/table.h"
#include "server/run/did.h"
#include "server/run/lost.h"
#include "server/run/times.h"

#include <string.h>

bool table_note_unknown_before(const struct table_view *view, const struct thread_timeline *course)
{
    return order_first(view->run->order) && !course->born && course->made_ns == INTERVALS_NEVER;
}

/* One of several on a page, where the page says it once? */
static bool missing_data_is_noted(const struct table_view *view)
{
    const char *missing = table_option(view->request, "missing");
    return missing && strcmp(missing, "0") == 0;
}

static void missing_data_note_discarded(const struct run *run, struct result_table *t)
{
    uint64_t first = order_first(run->order);
    if (first && first < order_count(run->order))
        table_add_note(t,
                       "the first %llu events of this run are forgotten: nothing is told of what "
                       "was before %.3f ms",
                       (unsigned long long)first, (double)event_times_fitted(run, first) / 1e6);
}

void table_note_missing(const struct table_view *view, struct result_table *t)
{
    const struct run *run = view->run;
    uint64_t lost = run_lost(run) + order_unreadable_events(run->order), unsent = 0;
    for (size_t i = 0; i < run->process_count; i++)
        unsent += run->processes[i].unsent && !run->processes[i].connected;
    if (missing_data_is_noted(view))
        return;
    missing_data_note_discarded(run, t);
    if (lost)
        table_add_note(t, "%llu event%s lost: what threads did meanwhile is not known",
                       (unsigned long long)lost, lost == 1 ? " is" : "s are");
    uint64_t beyond = activity_is_beyond(run);
    if (beyond)
        table_add_note(t,
                       "no buffer space for the code segments of %llu record%s; shown as SITE → "
                       "SITE",
                       (unsigned long long)beyond, beyond == 1 ? "" : "s");
    uint64_t pending = order_figures(run->order).pending;
    if (pending && !run_connected(run))
        table_add_note(t, "%llu event%s no place in the order, and %s left out",
                       (unsigned long long)pending, pending == 1 ? " has" : "s have",
                       pending == 1 ? "is" : "are");
    if (run->unfinished)
        table_add_note(t, "the run was cut off: what was after that is not known");
    if (unsent)
        table_add_note(t, "%llu program%s cut off: the last that %s did may be missing",
                       (unsigned long long)unsent, unsent == 1 ? " was" : "s were",
                       unsent == 1 ? "it" : "they");
}

/* Notes below a table about data that is missing or was discarded. */
#include "server/queries/tables/table_query.h"
#include "server/run/activity_store.h"
#include "server/run/untraced_reasons.h"
#include "server/run/event_times.h"

#include <string.h>

bool table_note_unknown_before(const struct table_view *view, const struct thread_timeline *course)
{
    return order_first(view->run->order) && !course->born && course->made_ns == INTERVALS_NEVER;
}

/* Returns whether the notes are omitted: a report has them once, not below each of its tables. */
static bool missing_data_is_noted(const struct table_view *view)
{
    const char *missing = table_option(view->request, "missing");
    return missing && strcmp(missing, "0") == 0;
}

static void missing_data_note_discarded(const struct run *run, struct result_table *t)
{
    uint64_t first = order_first(run->order);
    if (first && first < order_count(run->order))
        table_add_note(
            t, "the first %llu events were discarded (--keep); data before %.3f ms is missing",
            (unsigned long long)first, (double)event_times_fitted(run, first) / 1e6);
}

void table_note_missing(const struct table_view *view, struct result_table *t)
{
    const struct run *run = view->run;
    uint64_t lost = run_lost(run) + order_unreadable_events(run->order), unsent = 0;
    for (size_t i = 0; i < run->processes.count; i++)
        unsent += run->processes.items[i].unsent && !run->processes.items[i].connected;
    if (missing_data_is_noted(view))
        return;
    missing_data_note_discarded(run, t);
    if (lost)
        table_add_note(t, "%llu event%s lost; thread activity in those gaps is unknown",
                       (unsigned long long)lost, lost == 1 ? "" : "s");
    uint64_t beyond = activity_is_beyond(run);
    if (beyond)
        table_add_note(t,
                       "no buffer space for the code segments of %llu record%s; shown as SITE → "
                       "SITE",
                       (unsigned long long)beyond, beyond == 1 ? "" : "s");
    uint64_t pending = order_figures(run->order).pending;
    if (pending && !run_connected(run))
        table_add_note(t, "%llu unordered event%s excluded", (unsigned long long)pending,
                       pending == 1 ? "" : "s");
    if (run->file.unfinished)
        table_add_note(t, run->file.still_written
                              ? "the file is still being written; later activity is unknown"
                              : "the trace is truncated; later activity is unknown");
    if (unsent)
        table_add_note(t, "%llu program%s killed or disconnected; %s last events may be missing",
                       (unsigned long long)unsent, unsent == 1 ? " was" : "s were",
                       unsent == 1 ? "its" : "their");
}

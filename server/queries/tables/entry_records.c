#include "server/queries/tables/entry_records.h"

#include "base/alloc.h"
#include "server/timing/call_profile.h"

#include <stdlib.h>

static struct call_contexts *entry_records_contexts(const struct run *run)
{
    return (struct call_contexts *)(uintptr_t)&run->contexts; /* only `wanted` is set */
}

bool entry_records_begin(struct entry_records *e, const struct table_view *view, char **problem)
{
    if (view->past) {
        *problem = xstrdup("call records are selected by time: give --from and --to as times");
        return false;
    }
    *e = (struct entry_records){.run = view->run, .taken = view->run->contexts.taken};
    entry_records_contexts(e->run)->wanted = e->run->programs.connected > 0;
    return true;
}

bool entry_records_are_ready(const struct entry_records *e)
{
    return !(e->run->programs.connected && e->run->contexts.taken == e->taken &&
             e->run->contexts.wanted);
}

static int64_t entry_records_clock_ns(const struct run *run, int64_t ns)
{
    int64_t sum;
    return ns == INT64_MIN || ns == INT64_MAX ||
                   __builtin_add_overflow(ns, (int64_t)run->clock.start_ns, &sum)
               ? ns
               : sum;
}

void entry_records_read(struct entry_records *e, const struct table_view *view)
{
    const struct call_contexts *contexts = &e->run->contexts;
    e->from_ns = entry_records_clock_ns(e->run, view->from_ns);
    e->to_ns = entry_records_clock_ns(e->run, view->to_ns);
    e->threads = xcalloc(contexts->count + 1, sizeof *e->threads);
    for (uint32_t i = 0; i < contexts->count; i++) {
        const struct call_context_thread *t = &contexts->threads[i];
        const struct call_entries_thread *entries =
            call_entries_for_thread(&e->run->entries, t->session, t->code);
        if (!entries || !table_wants(view, t->line))
            continue;
        e->lost += entries->lost;
        e->counted += call_profile_counted_only(t);
        e->threads[e->count++] =
            (struct entry_records_thread){.entries = entries,
                                          .line = t->line,
                                          .scope_of = scope_numbers_of(&e->scopes, e->run, t),
                                          .context_count = t->count};
    }
}

struct table_cell entry_records_cell(const struct entry_records *e,
                                     const struct entry_records_thread *t, uint32_t context)
{
    uint32_t scope = context < t->context_count ? t->scope_of[context] : 0;
    return scope ? scope_numbers_cell(&e->scopes, e->run, scope) : table_cell_text("(unknown yet)");
}

void entry_records_notes(const struct entry_records *e, struct result_table *t)
{
    if (!e->count)
        table_add_note(t, "no per-call records: run with POET_MEASURE=calls=every");
    if (e->lost)
        table_add_note(t, "%llu calls dropped: ring buffer overrun", (unsigned long long)e->lost);
    if (e->counted)
        table_add_note(t, "%llu calls of the whole run have no records: counted, not timed",
                       (unsigned long long)e->counted);
    if (e->count && order_first(e->run->order))
        table_add_note(t, "records of calls before the first kept event were discarded (--keep)");
    if (e->run->entries.left)
        table_add_note(t, "%llu calls dropped: at most %llu MiB of call records are kept",
                       (unsigned long long)e->run->entries.left,
                       (unsigned long long)(CALL_ENTRIES_KEPT >> 20));
}

void entry_records_free(struct entry_records *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        free(e->threads[i].scope_of);
    free(e->threads);
    scope_numbers_free(&e->scopes);
    *e = (struct entry_records){0};
}

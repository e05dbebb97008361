/* Table of data races (server/queries/data_races.h), and below each its two accesses, with
 * the event of the thread before each. */
#include "base/alloc.h"
#include "server/queries/data_races.h"
#include "server/queries/tables/table_query.h"
#include "server/run/untraced_reasons.h"

#include <stdlib.h>
#include <string.h>

enum races_column {
    NUMBER,
    COUNT,
    OBJECT,
    MEMORY,
    BYTES,
    OWNER,
    ALLOCATED,
    BLOCK_BYTES,
    OFFSET,
    UNCERTAIN,
    BEFORE,
    AFTER,
    THREAD,
    ACCESS,
    LOCATION,
    EVENT,
    LOCK,
    OUTER_LOCK
};

static const struct column_definition races_columns[] = {
    [NUMBER] = {"number", "", .kind = TABLE_COUNT},
    [COUNT] = {"count", "occurrences", .kind = TABLE_COUNT},
    [OBJECT] = {"object", .kind = TABLE_DATA},
    [MEMORY] = {"memory", .kind = TABLE_TEXT},
    [BYTES] = {"bytes", .kind = TABLE_COUNT},
    [OWNER] = {"owner", "stack of, or allocated by", .kind = TABLE_LINE, .detail = true},
    [ALLOCATED] = {"allocated", "allocated at", .kind = TABLE_PLACE},
    [BLOCK_BYTES] = {"block_bytes", .kind = TABLE_COUNT, .detail = true},
    [OFFSET] = {"block_offset", .kind = TABLE_COUNT, .detail = true},
    [UNCERTAIN] = {"uncertain", "uncertain because", .kind = TABLE_TEXT},
    [BEFORE] = {"last_common_before", .kind = TABLE_EVENT, .detail = true},
    [AFTER] = {"first_common_after", .kind = TABLE_EVENT, .detail = true},
    [THREAD] = {"thread", .kind = TABLE_LINE},
    [ACCESS] = {"access", .kind = TABLE_TEXT},
    [LOCATION] = {"location", .kind = TABLE_PLACE},
    [EVENT] = {"event", "after event", .kind = TABLE_EVENT},
    [LOCK] = {"lock", "lock held", .kind = TABLE_LINE},
    [OUTER_LOCK] = {"outer_lock", .kind = TABLE_LINE, .detail = true},
};

static void *races_begin(const struct table_view *view, struct error *error)
{
    if (view->from_ns != INT64_MIN || view->to_ns != INT64_MAX || view->past) {
        error_set(error, "data races need the whole run; they cannot be restricted to a range");
        return NULL;
    }
    return data_races_new(view->run);
}

static bool races_step(void *work, uint64_t *budget) { return data_races_step(work, budget); }

/* ---- rows ---- */

static const char *races_access_name(unsigned flags)
{
    return flags & ACCESS_FREE                             ? "free"
           : flags & ACCESS_ATOMIC && flags & ACCESS_WRITE ? "atomic write"
           : flags & ACCESS_ATOMIC                         ? "atomic read"
           : flags & ACCESS_WRITE                          ? "write"
                                                           : "read";
}

/* Returns the reasons as one text, in new memory. */
static char *races_reasons_text(uint32_t reasons)
{
    char *all = NULL;
    for (unsigned i = 0; i < 32; i++) {
        if (!(reasons & 1u << i) || !*untraced_text(i))
            continue;
        char *more = all ? xasprintf("%s; %s", all, untraced_text(i)) : xstrdup(untraced_text(i));
        free(all);
        all = more;
    }
    return all;
}

/* The stack of the later access is known. */
static void races_add_callers(struct result_table *t, const struct conflict *c)
{
    struct table_row *row = &t->rows[t->row_count - 1];
    uint32_t count = 0;
    while (count < CONFLICT_CALLERS && c->callers[count])
        count++;
    row->context = xreallocarray(NULL, count + 2u, sizeof *row->context);
    row->context[row->context_count++] = (struct table_place){c->process, c->accesses[1].address};
    for (uint32_t i = 0; i < count; i++)
        row->context[row->context_count++] = (struct table_place){c->process, c->callers[i]};
}

static void races_add_access(const struct table_view *view, const struct conflict *c, unsigned i,
                             struct result_table *t)
{
    const struct conflict_access *a = &c->accesses[i];
    uint64_t position = order_position(view->run->order, a->after);
    struct table_cell *cells =
        table_add_row(t, 1, position == NO_POSITION ? a->after : table_event(view, position));
    if (!cells)
        return;
    cells[THREAD] = table_cell_line(a->thread);
    cells[ACCESS] = table_cell_text(races_access_name(a->flags));
    cells[LOCATION] = table_cell_place((struct table_place){c->process, a->address});
    cells[EVENT] = table_cell_event(a->after);
    cells[LOCK] = table_cell_line(a->locks[0]);
    cells[OUTER_LOCK] = table_cell_line(a->locks[1]);
    table_row_line(t, a->thread);
    if (i == 1)
        races_add_callers(t, c);
}

static void races_add_race(const struct table_view *view, const struct data_race *race,
                           size_t number, struct result_table *t)
{
    static const char *const memories[] = {[MEMORY_OTHER] = "global",
                                           [MEMORY_HEAP] = "heap",
                                           [MEMORY_STACK] = "stack",
                                           [MEMORY_UNSEEN] = "unknown"};
    const struct conflict *c = conflicts_at(view->run, race->conflict);
    struct table_cell *cells = table_add_row(t, 0, c->accesses[1].after);
    if (!cells)
        return;
    char *reasons = races_reasons_text(race->reasons);
    cells[NUMBER] = table_cell_number((int64_t)number);
    cells[COUNT] = table_cell_number((int64_t)race->count);
    cells[OBJECT] = table_cell_data((struct table_place){c->process, c->address});
    cells[MEMORY] = table_cell_text(memories[c->memory]);
    cells[BYTES] = table_cell_number(c->bytes);
    cells[OWNER] = table_cell_line(c->owner);
    if (c->memory == MEMORY_HEAP) {
        cells[ALLOCATED] = table_cell_place((struct table_place){c->process, c->block_site});
        cells[BLOCK_BYTES] = table_cell_number((int64_t)c->block_bytes);
        cells[OFFSET] = table_cell_number((int64_t)(c->address - c->block));
    }
    if (reasons)
        cells[UNCERTAIN] = table_cell_text(reasons);
    cells[BEFORE] = table_cell_event(table_event(view, race->before));
    cells[AFTER] = table_cell_event(table_event(view, race->after));
    free(reasons);
    table_row_line(t, c->accesses[0].thread);
    table_row_line(t, c->accesses[1].thread);
    for (unsigned i = 0; i < 2; i++)
        races_add_access(view, c, 1 - i, t);
}

static void races_add_notes(const struct run *run, const struct data_races *races,
                            struct result_table *t)
{
    uint32_t reasons;
    uint64_t unknown = data_races_unknown(races, &reasons);
    char *why = unknown ? races_reasons_text(reasons) : NULL;
    static const char *const texts[] = {
        [UNEXAMINED_NO_MEMORY] = "no memory could be reserved to examine accesses (ulimit -v?)",
        [UNEXAMINED_MEMORY] = "accesses to memory beyond the limit of what is examined",
        [UNEXAMINED_INTERVALS] = "accesses after too many events",
        [UNEXAMINED_CONFLICTS] = "conflicting accesses beyond the limit of what is recorded"};
    if (!conflicts_examined(run))
        table_add_note(t,
                       "accesses of memory were not examined: no program of the run was compiled "
                       "with poetcc -trace=races");
    else if (!t->row_count)
        table_add_note(t, "no data races found");
    if (why)
        table_add_note(t, "there may be more data races; not compared, %llu times: %s",
                       (unsigned long long)unknown, why);
    free(why);
    for (unsigned kind = 0; kind < UNEXAMINED_KINDS; kind++) {
        uint64_t count = conflicts_unexamined(run, (enum unexamined)kind);
        if (count) /* programs report powers of two */
            table_add_note(t, "there may be more data races; not examined, %llu or more times: %s",
                           (unsigned long long)count, texts[kind]);
    }
}

/* A total says that accesses were examined. */
static void races_add_total(const struct data_race *found, size_t count, struct result_table *t)
{
    int64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += (int64_t)found[i].count;
    table_make_total(t)[COUNT] = table_cell_number(all);
}

static void races_fill(void *work, const struct table_view *view, struct result_table *t)
{
    size_t count;
    const struct data_race *found = data_races_found(work, &count);
    t->title = xstrdup("data races");
    table_add_columns(t, races_columns, sizeof races_columns / sizeof *races_columns);
    for (size_t i = 0; i < count; i++) {
        const struct conflict *c = conflicts_at(view->run, found[i].conflict);
        if (table_wants(view, c->accesses[0].thread) || table_wants(view, c->accesses[1].thread))
            races_add_race(view, &found[i], i + 1, t);
    }
    if (conflicts_examined(view->run))
        races_add_total(found, count, t);
    races_add_notes(view->run, work, t);
    table_arrange(t, view->request, NULL);
}

static void races_free(void *work) { data_races_free(work); }

const struct table_preset preset_races = {.what = "races",
                                          .begin = races_begin,
                                          .step = races_step,
                                          .fill = races_fill,
                                          .free = races_free};

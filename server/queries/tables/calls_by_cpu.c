/* Table of calls by CPU: which functions ran on which worker thread or cluster of a runtime, or CPU
 * of the machine, how often, and with which self time.  It is computed from call records
 * (calls=every) and from where each thread ran; sums of calls have no times and do not suffice.
 * Blocked and runnable time in a call counts nowhere. */
#include "base/map.h"
#include "base/alloc.h"
#include "base/extremes.h"
#include "server/queries/tables/entries_table.h"
#include "server/queries/tables/placement_tables.h"
#include "server/queries/tables/lifetime_sweep.h"

#include <stdlib.h>
#include <string.h>

struct cpu_call_place {
    int64_t from_ns, to_ns;
    uint32_t place;
};

struct cpu_call_list { /* places of one thread, by time */
    struct cpu_call_place *items;
    size_t count, room;
};

struct cpu_call_part { /* calls of one function in one place */
    uint32_t place, scope;
    uint64_t calls;
    int64_t self_ns;
};

struct cpu_call_work {
    const struct table_view *view;
    struct cpu_state_walk spans;
    struct lifetime_sweep sweep;
    struct placement_names places;
    struct entry_records entered;
    struct map lists; /* line -> struct cpu_call_list */
    struct cpu_call_list *list; /* of the current thread */
    bool looked, placed, walking;
    uint32_t next; /* current thread: its line until all are placed, then its index */
    struct call_entries_walk walk;
    size_t near; /* index in its list: earlier places are over */
    int64_t at_ns; /* time of the previous call record, ns of the run; INT64_MIN: none */
    struct cpu_call_part *parts;
    size_t count, room;
    struct map index; /* place, scope -> 1 + index */
};

static void *calls_by_cpu_begin(const struct table_view *view, struct error *error)
{
    struct cpu_call_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    if (placement_names_begin(&w->places, view, error) &&
        entry_records_begin(&w->entered, view, error))
        return w;
    placement_names_free(&w->places);
    free(w);
    return NULL;
}

/* ---- places of threads ---- */

static struct cpu_call_list *list_of(struct cpu_call_work *w, uint32_t line)
{
    struct cpu_call_list *list = map_get(&w->lists, line, 0);
    if (!list)
        map_put(&w->lists, line, 0, list = xcalloc(1, sizeof *list));
    return list;
}

static void add_where(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    struct cpu_call_work *w = context;
    struct cpu_call_list *l = w->list;
    if (is != CPU_STATE_RUNNING || from_ns >= to_ns)
        return;
    uint32_t place = placement_names_place(&w->places, w->next, w->spans.on);
    struct cpu_call_place *last = l->count ? &l->items[l->count - 1] : NULL;
    if (last && last->place == place && last->to_ns == from_ns) {
        last->to_ns = to_ns;
        return;
    }
    l->items = array_reserve(l->items, &l->room, l->count + 1, sizeof *l->items);
    l->items[l->count++] = (struct cpu_call_place){from_ns, to_ns, place};
}

/* Collects where each thread ran, regardless of its state in the order: a task that requests
 * something is on its worker thread until it leaves it.  Returns true when all are done. */
static bool place_threads(struct cpu_call_work *w, uint64_t *budget)
{
    struct lifetime_piece piece;
    enum lifetime_sweep_result is;
    while ((is = lifetime_sweep_next(&w->sweep, w->view, budget, &piece)) == LIFETIME_SWEEP_PIECE) {
        w->next = piece.course->thread;
        w->list = list_of(w, w->next);
        w->spans = piece.first ? (struct cpu_state_walk){0} : w->spans;
        cpu_states_visit(w->view->lives.spans, piece.course, &w->spans, piece.from_ns, piece.to_ns,
                         add_where, w);
    }
    return is == LIFETIME_SWEEP_DONE;
}

/* ---- calls in these places ---- */

static struct cpu_call_part *part_of(struct cpu_call_work *w, uint32_t place, uint32_t scope)
{
    uintptr_t at = (uintptr_t)map_get(&w->index, place, scope);
    if (at)
        return &w->parts[at - 1];
    w->parts = array_reserve(w->parts, &w->room, w->count + 1, sizeof *w->parts);
    w->parts[w->count] = (struct cpu_call_part){.place = place, .scope = scope};
    map_put(&w->index, place, scope, (void *)(uintptr_t)++w->count);
    return &w->parts[w->count - 1];
}

static uint32_t scope_in(const struct cpu_call_work *w, uint32_t context)
{
    const struct entry_records_thread *t = &w->entered.threads[w->next];
    return context < t->context_count ? t->scope_of[context] : 0;
}

/* Adds a span of time to the self time of a call's function, in the places where the thread ran. */
static void calls_by_cpu_charge_call(struct cpu_call_work *w, uint32_t context, int64_t from_ns,
                                     int64_t to_ns)
{
    const struct cpu_call_list *l = w->list;
    from_ns = int64_max(from_ns, w->view->from_ns);
    to_ns = int64_min(to_ns, w->view->to_ns);
    while (w->near < l->count && l->items[w->near].to_ns <= from_ns)
        w->near++;
    for (size_t i = w->near; i < l->count && l->items[i].from_ns < to_ns; i++) {
        int64_t part =
            int64_min(l->items[i].to_ns, to_ns) - int64_max(l->items[i].from_ns, from_ns);
        if (part > 0)
            part_of(w, l->items[i].place, scope_in(w, context))->self_ns += part;
    }
}

/* Counts a call where it began; as "unknown" if its thread ran nowhere then. */
static void count_call(struct cpu_call_work *w, uint32_t context, int64_t at_ns)
{
    const struct cpu_call_list *l = w->list;
    size_t i = w->near;
    if (at_ns < w->view->from_ns || at_ns >= w->view->to_ns)
        return;
    while (i < l->count && l->items[i].to_ns <= at_ns)
        i++;
    bool there = i < l->count && l->items[i].from_ns <= at_ns;
    part_of(w, there ? l->items[i].place : 0, scope_in(w, context))->calls++;
}

static void begin_walk(struct cpu_call_work *w)
{
    const struct entry_records_thread *t = &w->entered.threads[w->next];
    int64_t from_ns = w->entered.from_ns;
    w->list = list_of(w, t->line);
    w->walk = call_entries_walk(t->entries, from_ns > 0 ? (uint64_t)from_ns : 0);
    w->near = 0;
    w->at_ns = INT64_MIN;
    w->walking = true;
}

/* Processes the next call record; returns false at the end of the thread's records or of the
 * range. */
static bool calls_by_cpu_continue_walk(struct cpu_call_work *w)
{
    struct call_entry_seen seen;
    bool open = w->walk.open_count && !w->walk.above;
    uint32_t context = open ? w->walk.open[w->walk.open_count - 1].context : 0;
    int64_t from_ns = w->at_ns != INT64_MIN || !open
                          ? w->at_ns
                          : (int64_t)(w->walk.open[w->walk.open_count - 1].began_ns -
                                      w->view->run->clock.start_ns);
    if (!call_entries_next(&w->walk, &seen))
        return false;
    w->at_ns = (int64_t)(seen.entry.time_ns - w->view->run->clock.start_ns);
    if (open && from_ns < w->at_ns)
        calls_by_cpu_charge_call(w, context, from_ns, w->at_ns);
    if (seen.entry.is == CALL_RECORD_BEGINS)
        count_call(w, seen.entry.context, w->at_ns);
    return w->at_ns < w->view->to_ns;
}

static bool calls_by_cpu_scan_calls(struct cpu_call_work *w, uint64_t *budget)
{
    for (; w->next < w->entered.count; w->next++) {
        if (!w->walking)
            begin_walk(w);
        bool more = true;
        for (; more && *budget; --*budget)
            more = calls_by_cpu_continue_walk(w);
        if (more)
            return false;
        call_entries_walk_end(&w->walk);
        w->walking = false;
    }
    return true;
}

static bool calls_by_cpu_step(void *work, uint64_t *budget)
{
    struct cpu_call_work *w = work;
    if (!w->looked && !entry_records_are_ready(&w->entered))
        return false;
    if (!w->looked)
        entry_records_read(&w->entered, w->view);
    w->looked = true;
    if (!w->placed && !place_threads(w, budget))
        return false;
    if (!w->placed)
        w->next = 0;
    w->placed = true;
    return calls_by_cpu_scan_calls(w, budget);
}

/* ---- rows ---- */

enum cpu_call_column { ON, SCOPE, CALLS, SELF };

static int by_place(const void *a, const void *b)
{
    const struct cpu_call_part *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->self_ns != y->self_ns)
        return x->self_ns > y->self_ns ? -1 : 1;
    return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void add_columns(struct result_table *t, const struct placement_names *places)
{
    static const char source[] = "call records; placement";
    const struct column_definition columns[] = {
        [ON] = {"processor", placement_names_kind(places), .kind = TABLE_TEXT, .source = source},
        [SCOPE] = {"function", .kind = TABLE_PLACE, .source = source},
        [CALLS] = {"calls_n", "calls", .kind = TABLE_COUNT, .source = source},
        [SELF] = {"self_ns", .kind = TABLE_FINE, .source = source},
    };
    table_add_columns(t, columns, sizeof columns / sizeof *columns);
}

static struct table_cell *add_row(struct cpu_call_work *w, struct result_table *t, uint8_t depth,
                                  const struct cpu_call_part *part)
{
    struct table_cell *cells = table_add_row(t, depth, (struct event_id){0});
    if (!cells)
        return NULL;
    char *name = placement_names_name(&w->places, part->place);
    cells[ON] = table_cell_text(name);
    cells[CALLS] = table_cell_number((int64_t)part->calls);
    cells[SELF] = table_cell_number(part->self_ns);
    free(name);
    return cells;
}

/* Adds the functions of one place, the first at `i`; returns the index after them. */
static size_t add_place(struct cpu_call_work *w, struct result_table *t, size_t i)
{
    struct cpu_call_part all = {.place = w->parts[i].place};
    size_t end = i;
    for (; end < w->count && w->parts[end].place == all.place; end++) {
        all.calls += w->parts[end].calls;
        all.self_ns += w->parts[end].self_ns;
    }
    add_row(w, t, 0, &all);
    for (; i < end; i++) {
        struct table_cell *cells = add_row(w, t, 1, &w->parts[i]);
        if (cells)
            cells[SCOPE] = w->parts[i].scope ? scope_numbers_cell(&w->entered.scopes, w->view->run,
                                                                  w->parts[i].scope)
                                             : table_cell_text("(unknown yet)");
    }
    return end;
}

/* Returns NULL, or why the data is missing: nothing is estimated. */
static char *calls_by_cpu_missing_reason(const struct cpu_call_work *w)
{
    const struct entry_records *e = &w->entered;
    if (!e->count)
        return xstrdup(
            "calls are recorded as sums per thread, without times, and cannot be separated by CPU; "
            "record with POET_MEASURE=calls=every, which keeps the start of each call; poet "
            "states --by cpu shows on which CPU a thread ran, poet calls --by thread shows calls "
            "by thread");
    if (e->lost || e->run->entries.left)
        return xasprintf("%llu calls dropped: the time of the others per CPU is unknown; the sums "
                         "of "
                         "--by thread are complete",
                         (unsigned long long)(e->lost + e->run->entries.left));
    return NULL;
}

static void note_unpaired(const struct cpu_call_work *w, struct result_table *t)
{
    const struct call_contexts *all = &w->view->run->contexts;
    uint64_t ends = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (table_wants(w->view, all->threads[i].line))
            ends += all->threads[i].head.mismatched;
    if (ends)
        table_add_note(t, "%llu returns without a matching entry: their time is in their callers",
                       (unsigned long long)ends);
}

static void calls_by_cpu_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct cpu_call_work *w = work;
    struct cpu_call_part all = {0};
    if ((t->problem = calls_by_cpu_missing_reason(w)))
        return;
    t->title = xasprintf("calls by %s", placement_names_kind(&w->places));
    add_columns(t, &w->places);
    if (w->count)
        qsort(w->parts, w->count, sizeof *w->parts, by_place);
    for (size_t i = 0; i < w->count; i++) {
        all.calls += w->parts[i].calls;
        all.self_ns += w->parts[i].self_ns;
    }
    for (size_t i = 0; i < w->count;)
        i = add_place(w, t, i);
    struct table_cell *total = table_make_total(t);
    total[CALLS] = table_cell_number((int64_t)all.calls);
    total[SELF] = table_cell_number(all.self_ns);
    table_add_note(t,
                   "self: self time while the thread was on this %s; time on none is not counted; "
                   "calls are counted where they started",
                   placement_names_kind(&w->places));
    placement_names_note(&w->places, t);
    note_unpaired(w, t);
    entry_records_notes(&w->entered, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct cpu_call_work *w = work;
    if (w->walking)
        call_entries_walk_end(&w->walk);
    for (struct map_walk walk = {.map = &w->lists}; map_next(&walk);) {
        free(((struct cpu_call_list *)walk.value)->items);
        free(walk.value);
    }
    map_free(&w->lists);
    map_free(&w->index);
    free(w->parts);
    placement_names_free(&w->places);
    entry_records_free(&w->entered);
    free(w);
}

static const char *const calls_by_cpu_groupings[] = {"processor", "cluster", "cpu", NULL};

const struct table_preset preset_calls_by_cpu = {.what = "calls_by_cpu",
                                                 .by = calls_by_cpu_groupings,
                                                 .begin = calls_by_cpu_begin,
                                                 .step = calls_by_cpu_step,
                                                 .fill = calls_by_cpu_fill,
                                                 .free = free_work};

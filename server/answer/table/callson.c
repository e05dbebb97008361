/* The table of calls by where they ran: which functions, on which processor or cluster of a runtime, or of the machine, how
 * often and for how long themselves.
 *
 * It is made of when each call began and ended (calls=every) and of when its thread was where; without either there is no
 * such table, as sums of calls have no times.  What a thread waited, or was ready, in a call is nowhere. */
#include "memory/map.h"
#include "memory/memory.h"
#include "server/answer/table/entered.h"
#include "server/answer/table/ran.h"
#include "server/answer/table/sweep.h"

#include <stdlib.h>
#include <string.h>

struct where {
    int64_t from_ns, to_ns;
    uint32_t place;
};

struct list { /* of a thread, by time */
    struct where *items;
    size_t count, room;
};

struct part { /* of a function, in one place */
    uint32_t place, scope;
    uint64_t calls;
    int64_t self_ns;
};

struct work {
    const struct table_view *view;
    struct spans_walk spans;
    struct sweep sweep;
    struct ran_places places;
    struct entered entered;
    struct map lists; /* line -> struct list */
    struct list *list; /* of the thread that is looked at */
    bool looked, placed, walking;
    uint32_t next; /* thread */
    struct entries_walk walk;
    size_t near; /* in its list */
    int64_t at_ns; /* of the entry before, ns of the run; INT64_MIN: none */
    struct part *parts;
    size_t count, room;
    struct map index; /* place, scope -> 1 + index */
};

static void *begin(const struct table_view *view, char **problem)
{
    struct work *w = memory_zeroed(1, sizeof *w);
    w->view = view;
    *problem = ran_begin(&w->places, view);
    if (!*problem && entered_begin(&w->entered, view, problem))
        return w;
    ran_free(&w->places);
    free(w);
    return NULL;
}

/* ---- where threads were ---- */

static struct list *list_of(struct work *w, uint32_t line)
{
    struct list *list = map_get(&w->lists, line, 0);
    if (!list)
        map_put(&w->lists, line, 0, list = memory_zeroed(1, sizeof *list));
    return list;
}

static void add_where(void *context, enum span_is is, int64_t from_ns, int64_t to_ns)
{
    struct work *w = context;
    struct list *l = w->list;
    if (is != SPAN_RUNNING || from_ns >= to_ns)
        return;
    uint32_t place = ran_place(&w->places, w->next, w->spans.on);
    struct where *last = l->count ? &l->items[l->count - 1] : NULL;
    if (last && last->place == place && last->to_ns == from_ns) {
        last->to_ns = to_ns;
        return;
    }
    l->items = grow(l->items, &l->room, l->count + 1, sizeof *l->items);
    l->items[l->count++] = (struct where){from_ns, to_ns, place};
}

/* Whatever the order says that it did: a task that asks for something is on its processor until it is off it. */
static bool place_threads(struct work *w, uint64_t *budget)
{
    struct sweep_piece piece;
    enum sweep_is is;
    while ((is = sweep_next(&w->sweep, w->view, budget, &piece)) == SWEEP_PIECE) {
        w->next = piece.course->thread;
        w->list = list_of(w, w->next);
        w->spans = piece.first ? (struct spans_walk){0} : w->spans;
        spans_visit(w->view->lives.spans, piece.course, &w->spans, piece.from_ns, piece.to_ns,
                    add_where, w);
    }
    return is == SWEEP_DONE;
}

/* ---- what they called there ---- */

static struct part *part_of(struct work *w, uint32_t place, uint32_t scope)
{
    uintptr_t at = (uintptr_t)map_get(&w->index, place, scope);
    if (at)
        return &w->parts[at - 1];
    w->parts = grow(w->parts, &w->room, w->count + 1, sizeof *w->parts);
    w->parts[w->count] = (struct part){.place = place, .scope = scope};
    map_put(&w->index, place, scope, (void *)(uintptr_t)++w->count);
    return &w->parts[w->count - 1];
}

static uint32_t scope_in(const struct work *w, uint32_t context)
{
    const struct entered_thread *t = &w->entered.threads[w->next];
    return context < t->context_count ? t->scope_of[context] : 0;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* The innermost open call had a time for itself. */
static void charge(struct work *w, uint32_t context, int64_t from_ns, int64_t to_ns)
{
    const struct list *l = w->list;
    from_ns = most(from_ns, w->view->from_ns);
    to_ns = least(to_ns, w->view->to_ns);
    while (w->near < l->count && l->items[w->near].to_ns <= from_ns)
        w->near++;
    for (size_t i = w->near; i < l->count && l->items[i].from_ns < to_ns; i++) {
        int64_t part = least(l->items[i].to_ns, to_ns) - most(l->items[i].from_ns, from_ns);
        if (part > 0)
            part_of(w, l->items[i].place, scope_in(w, context))->self_ns += part;
    }
}

/* One that began while its thread was nowhere is counted where nobody knows. */
static void count_call(struct work *w, uint32_t context, int64_t at_ns)
{
    const struct list *l = w->list;
    size_t i = w->near;
    if (at_ns < w->view->from_ns || at_ns >= w->view->to_ns)
        return;
    while (i < l->count && l->items[i].to_ns <= at_ns)
        i++;
    bool there = i < l->count && l->items[i].from_ns <= at_ns;
    part_of(w, there ? l->items[i].place : 0, scope_in(w, context))->calls++;
}

static void begin_walk(struct work *w)
{
    const struct entered_thread *t = &w->entered.threads[w->next];
    int64_t from_ns = w->entered.from_ns;
    w->list = list_of(w, t->line);
    w->walk = entries_walk(t->entries, from_ns > 0 ? (uint64_t)from_ns : 0);
    w->near = 0;
    w->at_ns = INT64_MIN;
    w->walking = true;
}

/* False: that was all of the thread. */
static bool walk_on(struct work *w)
{
    struct entry_seen seen;
    bool open = w->walk.open_count && !w->walk.above;
    uint32_t context = open ? w->walk.open[w->walk.open_count - 1].context : 0;
    int64_t from_ns =
        w->at_ns != INT64_MIN || !open
            ? w->at_ns
            : (int64_t)(w->walk.open[w->walk.open_count - 1].began_ns - w->view->run->start_ns);
    if (!entries_next(&w->walk, &seen))
        return false;
    w->at_ns = (int64_t)(seen.entry.time_ns - w->view->run->start_ns);
    if (open && from_ns < w->at_ns)
        charge(w, context, from_ns, w->at_ns);
    if (seen.entry.is == ENTRY_BEGINS)
        count_call(w, seen.entry.context, w->at_ns);
    return w->at_ns < w->view->to_ns;
}

static bool look_at_calls(struct work *w, uint64_t *budget)
{
    for (; w->next < w->entered.count; w->next++) {
        if (!w->walking)
            begin_walk(w);
        bool more = true;
        for (; more && *budget; --*budget)
            more = walk_on(w);
        if (more)
            return false;
        entries_walk_end(&w->walk);
        w->walking = false;
    }
    return true;
}

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    if (!w->looked && !entered_is_there(&w->entered))
        return false;
    if (!w->looked)
        entered_look(&w->entered, w->view);
    w->looked = true;
    if (!w->placed && !place_threads(w, budget))
        return false;
    if (!w->placed)
        w->next = 0;
    w->placed = true;
    return look_at_calls(w, budget);
}

/* ---- rows ---- */

enum column { ON, SCOPE, CALLS, SELF };

static int by_place(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->self_ns != y->self_ns)
        return x->self_ns > y->self_ns ? -1 : 1;
    return x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void add_columns(struct shown_table *t, const struct ran_places *places)
{
    static const char source[] = "calls, as they began and ended; stays";
    table_add_column(t, "processor", ran_word(places), TABLE_TEXT, source);
    table_add_column(t, "scope", "function", TABLE_PLACE, source);
    table_add_column(t, "calls_n", "calls", TABLE_COUNT, source);
    table_add_column(t, "self_ns", "self", TABLE_FINE, source);
}

static struct table_cell *add_row(struct work *w, struct shown_table *t, uint8_t depth,
                                  const struct part *part)
{
    struct table_cell *cells = table_add_row(t, depth, (struct ref){0});
    if (!cells)
        return NULL;
    char *name = ran_name(&w->places, part->place);
    cells[ON] = cell_text(name);
    cells[CALLS] = cell_number((int64_t)part->calls);
    cells[SELF] = cell_number(part->self_ns);
    free(name);
    return cells;
}

/* The functions of one place, the first of them at `i`; returns what comes after them. */
static size_t add_place(struct work *w, struct shown_table *t, size_t i)
{
    struct part all = {.place = w->parts[i].place};
    size_t end = i;
    for (; end < w->count && w->parts[end].place == all.place; end++) {
        all.calls += w->parts[end].calls;
        all.self_ns += w->parts[end].self_ns;
    }
    add_row(w, t, 0, &all);
    for (; i < end; i++) {
        struct table_cell *cells = add_row(w, t, 1, &w->parts[i]);
        if (cells)
            cells[SCOPE] = w->parts[i].scope
                               ? scopes_cell(&w->entered.scopes, w->view->run, w->parts[i].scope)
                               : cell_text("(not told yet)");
    }
    return end;
}

/* NULL, or why it cannot be told: nothing is made up. */
static char *refusal(const struct work *w)
{
    const struct entered *e = &w->entered;
    if (!e->count)
        return memory_copied(
            "calls are summed up by thread, without times, so they cannot be told apart by "
            "processor: record with POET_METERS=calls=every, which keeps when each began; poet "
            "states --by says on which processor a thread ran, poet calls --by thread has calls "
            "by thread");
    if (e->lost || e->run->entries.left)
        return memory_printed("%llu calls are not there, so that what the others took where is "
                              "not known: --by thread has the sums, which are whole",
                              (unsigned long long)(e->lost + e->run->entries.left));
    return NULL;
}

static void note_unpaired(const struct work *w, struct shown_table *t)
{
    const struct contexts *all = &w->view->run->contexts;
    uint64_t ends = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (table_wants(w->view, all->threads[i].line))
            ends += all->threads[i].head.mismatched;
    if (ends)
        table_add_note(t, "%llu ends of calls had no begin: what these took is their callers'",
                       (unsigned long long)ends);
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    struct part all = {0};
    if ((t->problem = refusal(w)))
        return;
    t->title = memory_printed("calls by %s", ran_word(&w->places));
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
    total[CALLS] = cell_number((int64_t)all.calls);
    total[SELF] = cell_number(all.self_ns);
    table_add_note(t,
                   "self: what a call took itself while its thread was there; while that was on no "
                   "processor it was nowhere; calls are counted where they began");
    ran_note(&w->places, t);
    note_unpaired(w, t);
    entered_notes(&w->entered, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct work *w = work;
    if (w->walking)
        entries_walk_end(&w->walk);
    for (struct map_walk walk = {.map = &w->lists}; map_next(&walk);) {
        free(((struct list *)walk.value)->items);
        free(walk.value);
    }
    map_free(&w->lists);
    map_free(&w->index);
    free(w->parts);
    ran_free(&w->places);
    entered_free(&w->entered);
    free(w);
}

static const char *const by[] = {"processor", "cluster", "cpu", NULL};

const struct preset preset_callson = {
    .what = "callson", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};

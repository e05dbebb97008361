/* Table of locks: for each object that threads hold, how often and how long it was held and waited
 * for, with a row for each of its threads below; or of one object each hold, or of all objects the
 * lock convoys. */
#include "base/alloc.h"
#include "base/lower_bound.h"
#include "base/map.h"
#include "server/queries/lock_holds.h"
#include "server/queries/tables/attribution_cells.h"
#include "server/queries/tables/table_query.h"

#include <stdlib.h>
#include <string.h>

/* Number of waits of which each must begin before an earlier one ends, for a convoy. */
#define CONVOY_WAITS 3u

enum locks_by { BY_LOCK, BY_HOLD, BY_CONVOY };

static const char *const locks_table_groupings[] = {"lock", "hold", "convoy", NULL};

struct lock_figures { /* of an object, or of one thread at it */
    uint32_t line, thread; /* thread 0: of all */
    uint64_t holds, waits;
    int64_t held_ns, longest_hold_ns, waited_ns, longest_wait_ns;
    uint64_t longest; /* position of the acquisition of the longest hold; NO_POSITION: none */
    uint32_t longest_thread;
    bool open; /* held at the end */
};

struct lock_wait {
    uint32_t line, thread;
    int64_t from_ns, to_ns;
};

struct locks_work {
    const struct table_view *view;
    struct lock_holds scan;
    enum locks_by by;
    uint32_t object;
    struct lock_figures *figures;
    uint32_t count;
    size_t room;
    struct map index; /* line and thread -> 1 + index */
    struct lock_hold_span *holds; /* by hold: all of them */
    size_t hold_count, hold_room;
    struct lock_wait *waits; /* sorted by object and begin */
    size_t wait_count, wait_room;
    bool any_open; /* an object was held at the end */
};

/* ---- collecting ---- */

static struct lock_figures *locks_table_figures(struct locks_work *w, uint32_t line,
                                                uint32_t thread)
{
    return MAP_ITEM(&w->index, line, thread, w->figures, w->count, w->room,
                    (struct lock_figures){.line = line, .thread = thread, .longest = NO_POSITION});
}

static void locks_table_add_hold(struct lock_figures *f, const struct lock_hold_span *hold,
                                 int64_t ns)
{
    f->holds++;
    f->held_ns += ns;
    f->open |= hold->open;
    if (f->longest != NO_POSITION && ns <= f->longest_hold_ns)
        return;
    f->longest_hold_ns = ns;
    f->longest = hold->acquired;
    f->longest_thread = hold->thread;
}

/* Limits a span to the range and to what counts of its thread; returns its length, -1 if it is
 * outside. */
static int64_t locks_table_clip(const struct table_view *view, uint32_t thread, int64_t *from_ns,
                                int64_t *to_ns)
{
    const struct thread_timeline *course = intervals_for_thread(view->measured, thread);
    int64_t until_ns = course ? table_until(view, course) : view->to_ns;
    *from_ns = *from_ns > view->from_ns ? *from_ns : view->from_ns;
    *to_ns = *to_ns < until_ns ? *to_ns : until_ns;
    return *to_ns >= *from_ns && table_wants(view, thread) ? *to_ns - *from_ns : -1;
}

static void locks_table_on_hold(void *context, const struct lock_hold_span *hold)
{
    struct locks_work *w = context;
    struct lock_hold_span clipped = *hold;
    int64_t ns = locks_table_clip(w->view, hold->thread, &clipped.from_ns, &clipped.to_ns);
    if (ns < 0)
        return;
    w->any_open |= hold->open;
    if (w->by == BY_HOLD) {
        w->holds = array_reserve(w->holds, &w->hold_room, w->hold_count + 1, sizeof *w->holds);
        w->holds[w->hold_count++] = clipped;
        return;
    }
    locks_table_add_hold(locks_table_figures(w, hold->line, 0), hold, ns);
    locks_table_add_hold(locks_table_figures(w, hold->line, hold->thread), hold, ns);
}

static void locks_table_add_wait(struct locks_work *w, const struct wait_record *wait)
{
    struct lock_wait clipped = {wait->about, wait->thread, wait->from_ns, wait->to_ns};
    if (!wait->about || (w->object && wait->about != w->object) ||
        locks_table_clip(w->view, wait->thread, &clipped.from_ns, &clipped.to_ns) <= 0)
        return;
    w->waits = array_reserve(w->waits, &w->wait_room, w->wait_count + 1, sizeof *w->waits);
    w->waits[w->wait_count++] = clipped;
}

static int locks_table_compare_waits(const void *a, const void *b)
{
    const struct lock_wait *x = a, *y = b;
    return x->line != y->line         ? (x->line < y->line ? -1 : 1)
           : x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1)
                                      : (x->thread > y->thread) - (x->thread < y->thread);
}

/* Collects the waits for objects, of those that were held, sorted. */
static void locks_table_collect_waits(struct locks_work *w)
{
    const struct table_view *view = w->view;
    for (size_t i = 0; i < view->measured->wait_count; i++)
        locks_table_add_wait(w, &view->measured->waits[i]);
    for (size_t i = 0; i < view->lives.open_count; i++)
        locks_table_add_wait(w, &view->lives.open[i]);
    if (w->wait_count)
        qsort(w->waits, w->wait_count, sizeof *w->waits, locks_table_compare_waits);
}

static void locks_table_count_wait(struct lock_figures *f, int64_t ns)
{
    f->waits++;
    f->waited_ns += ns;
    f->longest_wait_ns = ns > f->longest_wait_ns ? ns : f->longest_wait_ns;
}

/* ---- by lock ---- */

enum locks_column {
    LOCK,
    THREAD,
    HOLDS,
    HELD,
    LONGEST_HOLD,
    WAITS,
    WAITED,
    LONGEST_WAIT,
    LOCATION,
    OPEN
};

static const struct column_definition locks_table_columns[] = {
    [LOCK] = {"object", .kind = TABLE_LINE},
    [THREAD] = {"thread", .kind = TABLE_LINE, .under = "object"},
    [HOLDS] = {"acquisitions", .kind = TABLE_COUNT},
    [HELD] = {"held_ns", .kind = TABLE_NS},
    [LONGEST_HOLD] = {"longest_hold_ns", .kind = TABLE_NS},
    [WAITS] = {"waits", .kind = TABLE_COUNT},
    [WAITED] = {"waited_ns", .kind = TABLE_NS},
    [LONGEST_WAIT] = {"longest_wait_ns", .kind = TABLE_NS},
    [LOCATION] = {"location", "longest hold at", .kind = TABLE_PLACE},
    [OPEN] = {"held_at_end", "at the end", .kind = TABLE_TEXT},
};

static int locks_table_compare_figures(const void *a, const void *b)
{
    const struct lock_figures *x = a, *y = b;
    return x->line != y->line             ? (x->line < y->line ? -1 : 1)
           : !x->thread || !y->thread     ? (x->thread > y->thread) - (x->thread < y->thread)
           : x->waited_ns != y->waited_ns ? (x->waited_ns > y->waited_ns ? -1 : 1)
           : x->held_ns != y->held_ns     ? (x->held_ns > y->held_ns ? -1 : 1)
                                          : (x->thread > y->thread) - (x->thread < y->thread);
}

static void locks_table_set_figures(const struct table_view *view, struct table_cell *cells,
                                    const struct lock_figures *f)
{
    cells[HOLDS] = table_cell_number((int64_t)f->holds);
    cells[HELD] = table_cell_number(f->held_ns);
    cells[WAITS] = table_cell_number((int64_t)f->waits);
    cells[WAITED] = table_cell_number(f->waited_ns);
    if (f->waits)
        cells[LONGEST_WAIT] = table_cell_number(f->longest_wait_ns);
    if (!f->holds)
        return;
    cells[LONGEST_HOLD] = table_cell_number(f->longest_hold_ns);
    cells[LOCATION] = table_site_cell(view, f->longest_thread, f->longest);
    if (f->open)
        cells[OPEN] = table_cell_text("held");
}

/* Adds a row for the object, if it was held, and one for each of its threads. */
static void locks_table_add_lock(const struct locks_work *w, struct result_table *t, uint32_t first,
                                 uint32_t end, struct lock_figures *total)
{
    const struct lock_figures *all = &w->figures[first];
    struct table_cell *cells = table_add_row(t, 0, table_event(w->view, all->longest));
    if (!cells)
        return;
    locks_table_set_figures(w->view, cells, all);
    cells[LOCK] = table_cell_line(all->line);
    table_row_line(t, all->line);
    total->holds += all->holds;
    total->held_ns += all->held_ns;
    total->waits += all->waits;
    total->waited_ns += all->waited_ns;
    for (uint32_t i = first + 1; i < end; i++) {
        const struct lock_figures *f = &w->figures[i];
        cells = table_add_row(t, 1, table_event(w->view, f->longest));
        if (!cells)
            return;
        locks_table_set_figures(w->view, cells, f);
        cells[THREAD] = table_cell_line(f->thread);
        table_row_line(t, all->line);
        table_row_line(t, f->thread);
    }
}

static void locks_table_fill_locks(struct locks_work *w, struct result_table *t)
{
    struct lock_figures total = {0};
    for (size_t i = 0; i < w->wait_count; i++) {
        const struct lock_wait *wait = &w->waits[i];
        if (!map_get(&w->index, wait->line, 0))
            continue; /* not an object that is held */
        locks_table_count_wait(locks_table_figures(w, wait->line, 0), wait->to_ns - wait->from_ns);
        locks_table_count_wait(locks_table_figures(w, wait->line, wait->thread),
                               wait->to_ns - wait->from_ns);
    }
    table_add_columns(t, locks_table_columns,
                      sizeof locks_table_columns / sizeof *locks_table_columns);
    t->columns[OPEN].detail = !w->any_open;
    if (w->count)
        qsort(w->figures, w->count, sizeof *w->figures, locks_table_compare_figures);
    for (uint32_t i = 0, end; i < w->count; i = end) {
        for (end = i + 1; end < w->count && w->figures[end].line == w->figures[i].line; end++)
            ;
        locks_table_add_lock(w, t, i, end, &total);
    }
    struct table_cell *cells = table_make_total(t);
    cells[HOLDS] = table_cell_number((int64_t)total.holds);
    cells[HELD] = table_cell_number(total.held_ns);
    cells[WAITS] = table_cell_number((int64_t)total.waits);
    cells[WAITED] = table_cell_number(total.waited_ns);
    table_arrange(t, w->view->request, "waited_ns");
}

/* ---- by hold ---- */

enum holds_column { HOLD_FROM, HOLD_THREAD, HOLD_NS, HOLD_WAITERS, HOLD_LOCATION, HOLD_OPEN };

static const struct column_definition holds_table_columns[] = {
    [HOLD_FROM] = {"from_ns", "acquired at", .kind = TABLE_NS},
    [HOLD_THREAD] = {"thread", .kind = TABLE_LINE},
    [HOLD_NS] = {"held_ns", .kind = TABLE_NS},
    [HOLD_WAITERS] = {"waiters", "waiters at release", .kind = TABLE_COUNT},
    [HOLD_LOCATION] = {"location", .kind = TABLE_PLACE},
    [HOLD_OPEN] = {"held_at_end", "at the end", .kind = TABLE_TEXT},
};

static int locks_table_compare_holds(const void *a, const void *b)
{
    const struct lock_hold_span *x = a, *y = b;
    return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1)
                                    : (x->acquired > y->acquired) - (x->acquired < y->acquired);
}

static int locks_table_compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the number of threads that wait right before a time: those that began, less those that
 * ended. */
static uint64_t locks_table_waiters(const struct locks_work *w, const int64_t *ends_ns,
                                    int64_t at_ns)
{
    size_t began = LOWER_BOUND(i, 0, w->wait_count, w->waits[i].from_ns < at_ns);
    size_t ended = LOWER_BOUND(i, 0, w->wait_count, ends_ns[i] < at_ns);
    return began - ended;
}

static void locks_table_fill_holds(struct locks_work *w, struct result_table *t)
{
    const struct table_view *view = w->view;
    int64_t *ends_ns = xcalloc(w->wait_count + 1, sizeof *ends_ns), held_ns = 0;
    for (size_t i = 0; i < w->wait_count; i++)
        ends_ns[i] = w->waits[i].to_ns;
    qsort(ends_ns, w->wait_count, sizeof *ends_ns, locks_table_compare_ns);
    if (w->hold_count)
        qsort(w->holds, w->hold_count, sizeof *w->holds, locks_table_compare_holds);
    table_add_columns(t, holds_table_columns,
                      sizeof holds_table_columns / sizeof *holds_table_columns);
    t->columns[HOLD_OPEN].detail = !w->any_open;
    for (size_t i = 0; i < w->hold_count; i++) {
        const struct lock_hold_span *hold = &w->holds[i];
        struct table_cell *cells = table_add_row(t, 0, table_event(view, hold->acquired));
        held_ns += hold->to_ns - hold->from_ns;
        if (!cells)
            continue;
        cells[HOLD_FROM] = table_cell_number(hold->from_ns);
        cells[HOLD_THREAD] = table_cell_line(hold->thread);
        cells[HOLD_NS] = table_cell_number(hold->to_ns - hold->from_ns);
        cells[HOLD_WAITERS] =
            table_cell_number((int64_t)locks_table_waiters(w, ends_ns, hold->to_ns));
        cells[HOLD_LOCATION] = table_site_cell(view, hold->thread, hold->acquired);
        if (hold->open)
            cells[HOLD_OPEN] = table_cell_text("held");
        table_row_line(t, hold->line);
        table_row_line(t, hold->thread);
    }
    free(ends_ns);
    table_make_total(t)[HOLD_NS] = table_cell_number(held_ns);
    table_arrange(t, view->request, NULL);
}

/* ---- by convoy ---- */

enum convoys_column { CONVOY_LOCK, CONVOY_FROM, CONVOY_NS, CONVOY_COUNT, CONVOY_THREADS };

static const struct column_definition convoys_table_columns[] = {
    [CONVOY_LOCK] = {"object", .kind = TABLE_LINE},
    [CONVOY_FROM] = {"from_ns", .kind = TABLE_NS},
    [CONVOY_NS] = {"duration_ns", .kind = TABLE_NS},
    [CONVOY_COUNT] = {"waits", .kind = TABLE_COUNT},
    [CONVOY_THREADS] = {"threads", .kind = TABLE_COUNT},
};

/* Returns the number of threads among some waits. */
static uint32_t locks_table_threads(const struct lock_wait *waits, size_t count)
{
    struct map seen = {0};
    uint32_t threads = 0;
    for (size_t i = 0; i < count; i++)
        if (!map_get(&seen, waits[i].thread, 0)) {
            map_put(&seen, waits[i].thread, 0, (void *)(uintptr_t)1);
            threads++;
        }
    map_free(&seen);
    return threads;
}

static void locks_table_add_convoy(const struct locks_work *w, struct result_table *t, size_t first,
                                   size_t end, int64_t to_ns)
{
    const struct lock_wait *waits = &w->waits[first];
    uint32_t threads = locks_table_threads(waits, end - first);
    struct table_cell *cells;
    if (end - first < CONVOY_WAITS || threads < 2 ||
        !(cells = table_add_row(t, 0, (struct event_id){0})))
        return;
    cells[CONVOY_LOCK] = table_cell_line(waits->line);
    cells[CONVOY_FROM] = table_cell_number(waits->from_ns);
    cells[CONVOY_NS] = table_cell_number(to_ns - waits->from_ns);
    cells[CONVOY_COUNT] = table_cell_number((int64_t)(end - first));
    cells[CONVOY_THREADS] = table_cell_number(threads);
    table_row_line(t, waits->line);
}

static void locks_table_fill_convoys(struct locks_work *w, struct result_table *t)
{
    table_add_columns(t, convoys_table_columns,
                      sizeof convoys_table_columns / sizeof *convoys_table_columns);
    for (size_t i = 0, end; i < w->wait_count; i = end) {
        int64_t to_ns = w->waits[i].to_ns;
        for (end = i + 1; end < w->wait_count && w->waits[end].line == w->waits[i].line &&
                          w->waits[end].from_ns <= to_ns;
             end++)
            to_ns = w->waits[end].to_ns > to_ns ? w->waits[end].to_ns : to_ns;
        if (map_get(&w->index, w->waits[i].line, 0))
            locks_table_add_convoy(w, t, i, end, to_ns);
    }
    table_make_total(t);
    table_add_note(t, "convoy: a time in which at least one thread waited for the object at each "
                      "moment, with at least 3 waits of several threads");
    table_arrange(t, w->view->request, "duration_ns");
}

/* ---- the table ---- */

static void locks_table_free(void *work)
{
    struct locks_work *w = work;
    lock_holds_free(&w->scan);
    free(w->figures);
    free(w->holds);
    free(w->waits);
    map_free(&w->index);
    free(w);
}

static void *locks_table_begin(const struct table_view *view, struct error *error)
{
    struct locks_work *w = xcalloc(1, sizeof *w);
    for (unsigned i = 0; locks_table_groupings[i]; i++)
        if (strcmp(view->request->by, locks_table_groupings[i]) == 0)
            w->by = i;
    w->view = view;
    w->object = attribution_cells_line(view, "object");
    w->scan = (struct lock_holds){
        .run = view->run, .object = w->object, .on_hold = locks_table_on_hold, .context = w};
    bool lacks = w->by == BY_HOLD && !w->object,
         unknown = w->object > order_line_count(view->run->order);
    if (!lacks && !unknown)
        return w;
    if (lacks)
        error_set(error, "--by hold needs an object: --object LINE");
    else
        error_set(error, "no line %u", w->object);
    locks_table_free(w);
    return NULL;
}

static bool locks_table_step(void *work, uint64_t *budget)
{
    struct locks_work *w = work;
    return lock_holds_step(&w->scan, budget);
}

static void locks_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    static const char *const titles[] = {"locks", "holds", "lock convoys"};
    struct locks_work *w = work;
    w->view = view;
    t->title = xstrdup(titles[w->by]);
    locks_table_collect_waits(w);
    if (w->by == BY_LOCK)
        locks_table_fill_locks(w, t);
    else if (w->by == BY_HOLD)
        locks_table_fill_holds(w, t);
    else
        locks_table_fill_convoys(w, t);
}

const struct table_preset preset_locks = {.what = "locks",
                                          .by = locks_table_groupings,
                                          .begin = locks_table_begin,
                                          .step = locks_table_step,
                                          .fill = locks_table_fill,
                                          .free = locks_table_free};

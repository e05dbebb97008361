/* The table of hints: what of a run most wants to be looked at.  Each is a fact that stands above a stated bound, with the
 * event to look at first. */
#include "memory/map.h"
#include "memory/memory.h"
#include "server/answer/table/table.h"
#include "server/causes/path.h"
#include "server/run/places.h"

#include <stdlib.h>

#define LOCK_SHARE 0.1 /* of a thread's life, that it waits for one lock */
#define READY_SHARE 0.1 /* likewise, that it was let go and did not go on */
#define LEFT_SHARE 0.3 /* of the run, that a thread has ended and nobody took note */
#define UNEXPLAINED_SHARE 0.01 /* of all waiting */
#define PATH_SHARE 0.6 /* of the critical path, that one thread of several is it */
#define KEPT_SHARE 0.5 /* of all waiting for others to come, that is for one and the same thread */
#define FEW_NS 1000000 /* what takes less than a millisecond is no matter */

/* What one thread waited for one object. */
struct fight {
    uint32_t thread, about;
    int64_t ns, longest_ns;
    uint32_t longest; /* wait */
    uint64_t waits;
};

struct fights {
    struct fight *items;
    uint32_t count;
    size_t room;
    struct map index;
};

enum column { HINT, THREAD, OBJECT, BY, NS, SHARE, WAITS, WHERE, LET_GO_AT, EVENT, COLUMNS };

static void add_columns(struct shown_table *t)
{
    table_add_column(t, "hint", "what", TABLE_TEXT, NULL);
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "about", "for", TABLE_LINE, NULL);
    table_add_column(t, "by", "let go by", TABLE_LINE, NULL);
    table_add_column(t, "ns", "took", TABLE_NS, NULL);
    table_add_column(t, "share", "of it", TABLE_SHARE, NULL);
    table_add_column(t, "waits", "times", TABLE_COUNT, NULL);
    table_add_column(t, "where", "where", TABLE_PLACE, NULL);
    table_add_column(t, "released_by", "let go at", TABLE_PLACE, NULL);
    table_add_column(t, "event", "event", TABLE_EVENT, NULL);
}

static struct table_cell *add(struct shown_table *t, const char *hint, uint32_t thread, int64_t ns,
                              int64_t of_ns, struct ref event)
{
    struct table_cell *cells = table_add_row(t, 0, event);
    if (!cells)
        return NULL;
    cells[HINT] = cell_text(hint);
    cells[THREAD] = cell_line(thread);
    cells[NS] = cell_number(ns);
    cells[SHARE] = cell_real(of_ns > 0 ? (double)ns / (double)of_ns : 0);
    cells[EVENT] = cell_event(event);
    table_row_line(t, thread);
    return cells;
}

/* ---- locks that are fought over ---- */

static struct fight *fight_of(struct fights *f, uint32_t thread, uint32_t about)
{
    uintptr_t known = (uintptr_t)map_get(&f->index, thread, about);
    if (!known) {
        f->items = grow(f->items, &f->room, f->count + 1, sizeof *f->items);
        f->items[f->count++] = (struct fight){.thread = thread, .about = about};
        known = f->count;
        map_put(&f->index, thread, about, (void *)known);
    }
    return &f->items[known - 1];
}

static void find_fights(const struct table_view *view, struct fights *fights)
{
    for (size_t i = 0; i < view->measured->wait_count; i++) {
        const struct wait *w = &view->measured->waits[i];
        int64_t from = w->from_ns > view->from_ns ? w->from_ns : view->from_ns,
                to = w->to_ns < view->to_ns ? w->to_ns : view->to_ns;
        if (w->class != WAIT_EXCLUSION || !w->about || to <= from || !table_wants(view, w->thread))
            continue;
        struct fight *f = fight_of(fights, w->thread, w->about);
        f->ns += to - from;
        f->waits++;
        if (to - from > f->longest_ns) {
            f->longest_ns = to - from;
            f->longest = (uint32_t)i;
        }
    }
}

/* Where the segment of a wait ended, and by whom. */
static void set_release(const struct table_view *view, struct table_cell *cells,
                        const struct segment *segment)
{
    const struct order *order = view->run->order;
    cells[BY] = cell_line(segment->thread);
    if (segment->release == NO_POSITION || segment->release < order_first(order))
        return;
    uint32_t site = order_event(order, segment->release).site;
    cells[LET_GO_AT] = cell_place(table_place(view, places_of(view->run, site)));
}

/* One hint a lock, of all threads that wait much for it: the one that waits most is named. */
static void add_lock(const struct table_view *view, struct shown_table *t, const struct fight *all,
                     const struct fight *worst, uint32_t threads, int64_t lives_ns)
{
    const struct wait *w = &view->measured->waits[worst->longest];
    char *many = memory_printed("%u threads wait much for a lock", threads);
    struct table_cell *cells = add(t, threads > 1 ? many : "waits much for a lock", worst->thread,
                                   all->ns, lives_ns, table_event(view, w->begin));
    free(many);
    if (!cells)
        return;
    cells[OBJECT] = cell_line(all->about);
    if (w->count)
        set_release(view, cells, &view->measured->segments[w->segment + w->count - 1]);
    cells[WAITS] = cell_number((int64_t)all->waits);
    cells[WHERE] = cell_place(table_place(view, w->place));
    table_row_line(t, all->about);
}

static int64_t life_of(const struct table_view *view, uint32_t thread)
{
    const struct course_of *c = intervals_of(view->measured, thread);
    struct states s = {0};
    if (c)
        states_sum(&view->lives, c, view->from_ns, table_until(view, c), &s);
    return s.life_ns;
}

static int by_object(const void *a, const void *b)
{
    const struct fight *x = a, *y = b;
    return x->about != y->about ? (x->about < y->about ? -1 : 1)
           : x->ns != y->ns     ? (x->ns > y->ns ? -1 : 1)
                                : 0;
}

static void look_at_locks(const struct table_view *view, struct shown_table *t,
                          struct fights *fights)
{
    if (fights->count)
        qsort(fights->items, fights->count, sizeof *fights->items, by_object);
    for (uint32_t i = 0, end; i < fights->count; i = end) {
        const struct fight *worst = &fights->items[i];
        struct fight all = {.about = worst->about};
        uint32_t threads = 0;
        int64_t lives_ns = 0;
        for (end = i; end < fights->count && fights->items[end].about == worst->about; end++) {
            const struct fight *f = &fights->items[end];
            int64_t life_ns = life_of(view, f->thread);
            if (f->ns < FEW_NS || (double)f->ns < LOCK_SHARE * (double)life_ns)
                continue;
            all.ns += f->ns;
            all.waits += f->waits;
            lives_ns += life_ns;
            threads++;
        }
        if (threads)
            add_lock(view, t, &all, worst, threads, lives_ns);
    }
}

/* ---- who comes last ---- */

/* What all others waited for one thread, to meet it; its end is no meeting. */
struct keeping {
    int64_t ns, longest_ns;
    uint32_t longest; /* segment */
    uint64_t waits;
};

static bool is_meeting(const struct table_view *view, const struct segment *s)
{
    const struct wait *w = &view->measured->waits[s->wait];
    return s->class == WAIT_MEETING && w->about != s->thread && table_wants(view, w->thread);
}

static int64_t segment_ns(const struct table_view *view, uint32_t i)
{
    int64_t from = segment_begin(view->measured, i), to = view->measured->segments[i].to_ns;
    from = from > view->from_ns ? from : view->from_ns;
    to = to < view->to_ns ? to : view->to_ns;
    return to > from ? to - from : 0;
}

static void add_keeper(const struct table_view *view, struct shown_table *t, uint32_t thread,
                       const struct keeping *k, int64_t all_ns)
{
    const struct segment *s = &view->measured->segments[k->longest];
    const struct wait *w = &view->measured->waits[s->wait];
    struct table_cell *cells = add(t, "the others wait most for it to come", thread, k->ns, all_ns,
                                   table_event(view, w->begin));
    if (!cells)
        return;
    set_release(view, cells, s);
    cells[OBJECT] = cell_line(w->about);
    cells[WAITS] = cell_number((int64_t)k->waits);
    cells[WHERE] = cell_place(table_place(view, w->place));
}

static void look_at_keepers(const struct table_view *view, struct shown_table *t, int64_t run_ns)
{
    const struct intervals *all = view->measured;
    struct keeping *by = memory_zeroed(all->thread_count, sizeof *by);
    int64_t all_ns = 0;
    for (uint32_t i = 0; i < all->segment_count; i++) {
        const struct course_of *c = intervals_of(all, all->segments[i].thread);
        int64_t ns = c && is_meeting(view, &all->segments[i]) ? segment_ns(view, i) : 0;
        if (!ns)
            continue;
        struct keeping *k = &by[c - all->threads];
        all_ns += ns;
        k->ns += ns;
        k->waits++;
        if (ns > k->longest_ns) {
            k->longest_ns = ns;
            k->longest = i;
        }
    }
    for (uint32_t i = 0; i < all->thread_count && all->thread_count > 2; i++)
        if (by[i].ns >= FEW_NS && (double)by[i].ns > KEPT_SHARE * (double)all_ns &&
            (double)by[i].ns > LOCK_SHARE * (double)run_ns)
            add_keeper(view, t, all->threads[i].thread, &by[i], all_ns);
    free(by);
}

/* ---- threads ---- */

/* Threads that nobody took note of, and which the longest. */
struct ends {
    const struct course_of *worst;
    int64_t ns;
    uint32_t count;
};

static void look_at_thread(const struct table_view *view, struct shown_table *t,
                           const struct course_of *c, int64_t run_ns, struct ends *ends)
{
    struct states s;
    states_sum(&view->lives, c, view->from_ns, table_until(view, c), &s);
    if (!s.life_ns || !table_wants(view, c->thread))
        return;
    int64_t ready = s.of[STATE_READY].total_ns, left = s.of[STATE_TERMINATE].total_ns;
    struct table_cell *cells = NULL;
    if (ready >= FEW_NS && (double)ready > READY_SHARE * (double)s.life_ns &&
        ready > s.of[STATE_RUNNING].total_ns)
        cells = add(t, "was let go, and went on late", c->thread, ready, s.life_ns,
                    table_event(view, c->start));
    if (cells)
        cells[WAITS] = cell_number((int64_t)s.of[STATE_READY].count);
    if (left < FEW_NS || (double)left <= LEFT_SHARE * (double)run_ns)
        return;
    ends->count++;
    if (left > ends->ns) {
        ends->ns = left;
        ends->worst = c;
    }
}

static void add_ends(const struct table_view *view, struct shown_table *t, const struct ends *ends,
                     int64_t run_ns)
{
    char *many = memory_printed("%u threads had ended long before anybody took note", ends->count);
    if (ends->count)
        add(t, ends->count > 1 ? many : "had ended long before anybody took note",
            ends->worst->thread, ends->ns, run_ns, table_event(view, ends->worst->end));
    free(many);
}

static void look_at_open(const struct table_view *view, struct shown_table *t, int64_t run_ns)
{
    for (size_t i = 0; !view->apart && i < view->lives.open_count; i++) {
        const struct wait *w = &view->lives.open[i];
        struct table_cell *cells = add(t, "waits at the end, and has not gone on", w->thread,
                                       w->to_ns - w->from_ns, run_ns, table_event(view, w->begin));
        if (!cells)
            return;
        cells[OBJECT] = cell_line(w->about);
        cells[WHERE] = cell_place(table_place(view, w->place));
        table_row_line(t, w->about);
    }
}

static void look_at_unexplained(const struct table_view *view, struct shown_table *t)
{
    int64_t all = 0, unexplained = 0;
    const struct wait *most = NULL;
    for (size_t i = 0; i < view->measured->wait_count; i++) {
        const struct wait *w = &view->measured->waits[i];
        all += w->to_ns - w->from_ns;
        if (!w->unexplained)
            continue;
        unexplained += w->to_ns - w->from_ns;
        if (!most || w->to_ns - w->from_ns > most->to_ns - most->from_ns)
            most = w;
    }
    if (most && unexplained >= FEW_NS && (double)unexplained > UNEXPLAINED_SHARE * (double)all)
        add(t, "waited, and nothing recorded tells who ended it", most->thread, unexplained, all,
            table_event(view, most->begin));
}

/* ---- who decided how long it took ---- */

struct held { /* of the path, by one thread */
    int64_t ns, longest_ns;
    const struct path_piece *longest;
};

static void look_at_path(const struct table_view *view, struct shown_table *t,
                         const struct path *path)
{
    const struct intervals *all = view->measured;
    struct held *by = memory_zeroed(all->thread_count + 1, sizeof *by);
    uint32_t most = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct path_piece *p = &path->pieces[i];
        int64_t ns = p->to_ns - p->from_ns;
        uint32_t thread = (uint32_t)(intervals_of(all, p->thread) - all->threads);
        by[thread].ns += ns;
        if (ns > by[thread].longest_ns) {
            by[thread].longest_ns = ns;
            by[thread].longest = p;
        }
        if (by[thread].ns > by[most].ns)
            most = thread;
    }
    const struct held *h = &by[most];
    int64_t length = path_length(path);
    if (all->thread_count > 2 && h->ns >= FEW_NS && (double)h->ns > PATH_SHARE * (double)length &&
        table_wants(view, all->threads[most].thread)) {
        struct table_cell *cells = add(t, "decided how long it took", all->threads[most].thread,
                                       h->ns, length, table_event(view, h->longest->position));
        if (cells && h->longest->step)
            cells[WHERE] =
                cell_place(table_place(view, steps_at(&all->steps, h->longest->step).from));
    }
    free(by);
}

/* ---- the table ---- */

static void *begin(const struct table_view *view, char **problem)
{
    struct path *path = memory_zeroed(1, sizeof *path);
    (void)problem;
    path_begin(path, view->measured, 0, view->to_ns);
    return path;
}

static bool step(void *work, uint64_t *budget) { return path_step(work, *budget); }

static void free_work(void *work)
{
    path_free(work);
    free(work);
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct fights fights = {0};
    struct ends ends = {0};
    int64_t run_ns = table_length(view);
    t->title = memory_copied("hints");
    add_columns(t);
    look_at_open(view, t, run_ns);
    look_at_path(view, t, work);
    find_fights(view, &fights);
    for (uint32_t i = 0; i < view->measured->thread_count; i++)
        look_at_thread(view, t, &view->measured->threads[i], run_ns, &ends);
    add_ends(view, t, &ends, run_ns);
    look_at_locks(view, t, &fights);
    look_at_keepers(view, t, run_ns);
    look_at_unexplained(view, t);
    free(fights.items);
    map_free(&fights.index);
    table_arrange(t, view->request, "ns");
    if (view->lives.open_count && !view->apart)
        table_add_note(t, "who waits for whom at the end, and who can go on: poet blocked");
    if (!t->row_count)
        table_add_note(t,
                       "nothing stands out: no thread waits %.0f %% of its life for one lock, "
                       "none waits at the end",
                       100 * LOCK_SHARE);
}

const struct preset preset_hints = {
    .what = "hints", .begin = begin, .step = step, .fill = fill, .free = free_work};

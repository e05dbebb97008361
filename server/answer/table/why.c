/* The table of why one wait took so long: the two paths since the two met last side by side, then the waits on the other
 * one's path, each with its own two. */
#include "memory/memory.h"
#include "server/answer/table/causing.h"
#include "server/answer/explained.h"
#include "server/causes/charges.h"
#include "server/run/places.h"

#include <stdlib.h>

#define NESTED 8 /* waits on the other's path that are told, the longest */
#define DEEPER 3 /* likewise, on the paths of those */
#define DEEPEST 4 /* rows of waits on paths of waits */
#define ROWS 4096 /* then those of further waits are left out */

enum column {
    WAITED,
    THREAD,
    STEP,
    THEIRS,
    MINE,
    DIFFERENCE,
    CHARGE,
    WHERE,
    CLASS,
    SINCE,
    SINCE_NS,
    SINCE_EVENT,
    SINCE_WHERE,
    GOING_ON
};

struct work {
    const struct table_view *view;
    struct causing causing;
    struct charges charges;
    struct why *why;
    uint64_t position; /* of the event asked about */
    struct shown_table made;
    bool looked, is; /* for the wait: looked for; there is one */
    size_t index; /* its */
    uint32_t done; /* of its segments */
};

static void *begin(const struct table_view *view, char **problem)
{
    struct ref event = causing_event(view, "event");
    uint64_t position = event.line ? order_position(view->run->order, event) : NO_POSITION;
    struct work *w = memory_zeroed(1, sizeof *w);
    if (position == NO_POSITION)
        *problem = memory_copied("why: an event that begins or ends a wait is needed");
    if (*problem || !causing_begin(&w->causing, view, problem)) {
        causing_free(&w->causing);
        free(w);
        return NULL;
    }
    w->view = view;
    w->position = position;
    w->charges.communication = explained_communication();
    w->why = explained_known(view->run, w->causing.since);
    return w;
}

static void add_columns(struct shown_table *t)
{
    table_add_column(t, "waited_ns", "waited", TABLE_NS, NULL);
    table_add_column(t, "thread", "for", TABLE_LINE, NULL);
    table_add_column(t, "step", "what was done", TABLE_STEP, NULL);
    table_add_column(t, "theirs_ns", "they", TABLE_NS, NULL);
    table_add_column(t, "mine_ns", "it", TABLE_NS, NULL);
    table_add_column(t, "difference_ns", "difference", TABLE_NS, NULL);
    table_add_column(t, "charge_ns", "charged", TABLE_NS, NULL);
    table_add_column(t, "where", "where", TABLE_PLACE, NULL);
    table_add_column(t, "class", "class", TABLE_TEXT, NULL);
    table_add_column(t, "since", "since", TABLE_TEXT, NULL);
    table_add_column(t, "since_ns", "at", TABLE_NS, NULL);
    table_add_column(t, "since_event", "event", TABLE_EVENT, NULL);
    table_detail(t);
    table_add_column(t, "since_where", "in", TABLE_PLACE, NULL);
    table_detail(t);
    causing_add_going_on(t);
}

/* ---- which wait ---- */

/* Where an interval of a thread ends in the log, that of a wait with the wait; they never fall. */
static uint64_t end_of(const struct intervals *all, const struct course_of *course, size_t i)
{
    while (i && course->items[i].is == INTERVAL_RUNS && !course->items[i].position)
        i--; /* it only parts what was before a group from what was after it */
    const struct interval *at = &course->items[i];
    if (at->is == INTERVAL_RUNS)
        return at->position;
    return all->waits[at->is == INTERVAL_SEGMENT ? all->segments[at->of].wait : at->of].end;
}

static size_t first_after(const struct intervals *all, const struct course_of *course,
                          uint64_t position)
{
    size_t low = 0, high = course->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (end_of(all, course, middle) < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The wait that an interval is of, if it is one of those that are known. */
static bool is_wait(const struct work *w, const struct course_of *course, size_t i, size_t *index)
{
    const struct intervals *all = w->why->paths.all;
    if (i >= course->count || course->items[i].is == INTERVAL_RUNS)
        return false;
    bool segment = course->items[i].is == INTERVAL_SEGMENT;
    *index = segment ? all->segments[course->items[i].of].wait : course->items[i].of;
    return *index < w->why->done;
}

static bool find(struct work *w)
{
    const struct intervals *all = w->why->paths.all;
    const struct order *order = w->view->run->order;
    struct event event = order_event(order, w->position);
    const struct course_of *course = intervals_of(all, event.thread);
    uint64_t end = order_point_end(order, w->position);
    if (!course)
        return false;
    if (is_wait(w, course, first_after(all, course, event.point), &w->index) &&
        all->waits[w->index].end <= end)
        return true;
    return is_wait(w, course, first_after(all, course, w->position + 1), &w->index) &&
           all->waits[w->index].begin == w->position;
}

/* ---- the two paths ---- */

/* One step on both. */
struct both {
    uint32_t step, thread; /* who took it longest on their path */
    int64_t theirs, mine, most;
};

static int by_step(const void *a, const void *b)
{
    const struct both *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

static int by_difference(const void *a, const void *b)
{
    const struct both *x = a, *y = b;
    int64_t p = x->theirs - x->mine, q = y->theirs - y->mine;
    return p != q ? (p > q ? -1 : 1) : by_step(a, b);
}

static size_t merged(struct both *rows, size_t count)
{
    size_t n = 0;
    if (count)
        qsort(rows, count, sizeof *rows, by_step);
    for (size_t i = 0; i < count; i++) {
        if (!n || rows[n - 1].step != rows[i].step) {
            rows[n++] = rows[i];
            continue;
        }
        struct both *to = &rows[n - 1];
        to->theirs += rows[i].theirs;
        to->mine += rows[i].mine;
        if (rows[i].most > to->most || !to->thread) {
            to->most = rows[i].most;
            to->thread = rows[i].thread;
        }
    }
    if (n)
        qsort(rows, n, sizeof *rows, by_difference);
    return n;
}

/* Returns how many; the caller frees *rows. */
static size_t both_paths(struct work *w, uint32_t segment, struct both **rows)
{
    struct tally theirs = {0}, mine = {0};
    size_t count = 0;
    why_paths(w->why, segment, &theirs, &mine);
    *rows = memory_zeroed(theirs.count + mine.count + 1, sizeof **rows);
    for (size_t i = 0; i < theirs.count; i++) {
        struct pair pair = why_pair(w->why, theirs.keys[i]);
        int64_t ns = theirs.ns[theirs.keys[i]];
        (*rows)[count++] = (struct both){pair.step, pair.thread, ns, 0, ns};
    }
    for (size_t i = 0; i < mine.count; i++)
        (*rows)[count++] = (struct both){why_pair(w->why, mine.keys[i]).step, 0, 0,
                                         mine.ns[mine.keys[i]], INT64_MIN};
    tally_free(&theirs);
    tally_free(&mine);
    return merged(*rows, count);
}

static int64_t charged(const struct work *w, uint32_t step)
{
    int64_t sum = 0;
    for (size_t i = 0; i < w->charges.count; i++)
        if (why_pair(w->why, w->charges.items[i].pair).step == step)
            sum += w->charges.items[i].ns;
    return sum;
}

static void add_paths(struct work *w, uint32_t segment, uint8_t depth)
{
    struct both *rows;
    size_t count = both_paths(w, segment, &rows);
    for (size_t i = 0; i < count; i++) {
        struct table_cell *cells;
        if (!rows[i].theirs && !rows[i].mine)
            continue; /* it came and went */
        if (!(cells = table_add_row(&w->made, depth, (struct ref){0})))
            break;
        int64_t charge = charged(w, rows[i].step);
        cells[THREAD] = cell_line(rows[i].thread);
        cells[STEP] = causing_step(w->view, rows[i].step);
        cells[THEIRS] = cell_number(rows[i].theirs);
        cells[MINE] = cell_number(rows[i].mine);
        cells[DIFFERENCE] = cell_number(rows[i].theirs - rows[i].mine);
        if (charge)
            cells[CHARGE] = cell_number(charge);
    }
    free(rows);
}

/* ---- the waits in them ---- */

static int64_t length(const struct wait *wait) { return wait->to_ns - wait->from_ns; }

/* Keeps the longest; returns how many there are now. */
static size_t keep(const struct wait *longest[NESTED], size_t count, size_t most,
                   const struct wait *wait)
{
    size_t at = count;
    while (at && length(longest[at - 1]) < length(wait))
        at--;
    for (size_t k = count < most ? count : most - 1; k > at; k--)
        longest[k] = longest[k - 1];
    if (at < most)
        longest[at] = wait;
    return count + (count < most);
}

/* The longest waits of a thread in a stretch that ends as it goes on; returns how many. */
static size_t nested(const struct work *w, uint32_t line, int64_t from_ns, int64_t to_ns,
                     size_t most, const struct wait *longest[NESTED])
{
    const struct intervals *all = w->why->paths.all;
    const struct course_of *course = intervals_of(all, line);
    const struct wait *before = NULL;
    size_t count = 0;
    for (size_t i = course ? intervals_at(course, from_ns) : 0;
         course && i < course->count && course->items[i].to_ns <= to_ns; i++) {
        if (course->items[i].is != INTERVAL_SEGMENT)
            continue;
        const struct wait *wait = &all->waits[all->segments[course->items[i].of].wait];
        if (wait != before)
            count = keep(longest, count, most, wait);
        before = wait;
    }
    return count;
}

/* ---- a segment ---- */

static const char *since_when(const struct work *w, uint32_t segment, enum met how)
{
    static const char *const words[] = {[MET_WAITING] = "one waited for the other",
                                        [MET_GATHERING] = "both were in a group",
                                        [MET_MADE] = "one made the other",
                                        [MET_PARTED] = "their makers parted",
                                        [MET_NEVER] = "the start"};
    return why_by_meeting(w->why, segment) ? words[how] : "it began to wait";
}

/* The event since which the two went apart, and the call that it was of. */
static void add_event(const struct work *w, struct table_cell *cells, uint32_t segment)
{
    const struct intervals *all = w->why->paths.all;
    uint64_t position = why_by_meeting(w->why, segment)
                            ? why_since(w->why, segment).position
                            : all->waits[all->segments[segment].wait].begin;
    struct ref event = table_event(w->view, position);
    if (!event.line)
        return; /* none, several, or it is forgotten */
    uint32_t site = order_event(w->view->run->order, position).site;
    cells[SINCE_EVENT] = cell_event(event);
    cells[SINCE_WHERE] = cell_place(table_place(w->view, places_of(w->view->run, site)));
}

static struct table_cell *add_head(struct work *w, uint32_t index, int64_t since, uint8_t depth)
{
    const struct intervals *all = w->why->paths.all;
    const struct segment *segment = &all->segments[index];
    const struct wait *wait = &all->waits[segment->wait];
    struct ref event = table_event(w->view, depth ? wait->begin : segment->release);
    struct table_cell *cells = table_add_row(&w->made, depth, event);
    if (!cells)
        return NULL;
    cells[WAITED] = cell_number(segment->to_ns - segment_begin(all, index));
    cells[THREAD] = cell_line(segment->thread);
    cells[WHERE] = cell_place(table_place(w->view, wait->place));
    cells[CLASS] = causing_text(segment->guess ? "guessed" : causing_class(segment->class));
    cells[SINCE] = cell_text(since_when(w, index, why_since(w->why, index).how));
    cells[SINCE_NS] = cell_number(since);
    add_event(w, cells, index);
    table_row_line(&w->made, wait->thread);
    table_row_line(&w->made, segment->thread);
    return cells;
}

/* What it was spent waiting for, the two paths, and the waits on the other one's. */
static void add_segment(struct work *w, uint32_t index, uint8_t depth)
{
    const struct intervals *all = w->why->paths.all;
    const struct segment *segment = &all->segments[index];
    const struct wait *longest[NESTED];
    int64_t begin = segment_begin(all, index),
            since = why_by_meeting(w->why, index) ? why_since(w->why, index).at_ns : begin;
    if (segment->to_ns <= begin || !add_head(w, index, since, depth))
        return;
    charges_of(&w->charges, w->why, index, PATH_EXPANDED, segment->to_ns - begin);
    add_paths(w, index, (uint8_t)(depth + 1));
    if (depth + 1 >= DEEPEST)
        return;
    size_t count =
        nested(w, segment->thread, since, segment->to_ns, depth ? DEEPER : NESTED, longest);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < longest[i]->count && w->made.row_count < ROWS; k++)
            if (all->segments[longest[i]->segment + k].to_ns > since)
                add_segment(w, longest[i]->segment + k, (uint8_t)(depth + 1));
}

/* After it was let go. */
static void say_going_on(const struct work *w, const struct wait *wait, struct shown_table *t,
                         struct table_cell *total)
{
    struct going_on g =
        going_on(w->view->run->spans, w->why->paths.all, wait, !w->view->run->connected);
    double ms = 1e6;
    causing_going_on(total + GOING_ON, &g);
    if (!g.took_ns)
        return;
    if (g.source == SPANS_ORDER)
        table_add_note(t, "going on took %.3f ms; whether it had a processor then is %s",
                       (double)g.took_ns / ms, going_on_source(g.source));
    else
        table_add_note(t,
                       "going on took %.3f ms: ready without a processor %.3f ms, latency %.3f ms "
                       "(%s)",
                       (double)g.took_ns / ms, (double)g.ready_ns / ms,
                       (double)(g.took_ns - g.ready_ns) / ms, going_on_source(g.source));
}

static void say_whole(const struct work *w, const struct wait *wait, struct shown_table *t)
{
    struct table_cell *total = table_make_total(t);
    total[WAITED] = cell_number(length(wait));
    say_going_on(w, wait, t, total);
    if (wait->unexplained)
        table_add_note(t, "nothing that is recorded ended this wait: it is not explained");
    else if (wait->class == WAIT_TIMER)
        table_add_note(t, "the clock ended this wait");
    else if (!wait->count)
        table_add_note(t, "nobody was waited for any more: this is how long it took to go on");
}

/* Does a wait begin with this event that has not ended? */
static bool is_open(const struct work *w)
{
    for (size_t i = 0; i < w->view->lives.open_count; i++)
        if (w->view->lives.open[i].begin == w->position)
            return true;
    return false;
}

static void begin_table(struct work *w)
{
    w->looked = true;
    w->made.title = memory_copied("why");
    add_columns(&w->made);
    w->is = find(w);
    if (w->is)
        say_whole(w, &w->why->paths.all->waits[w->index], &w->made);
    else
        table_add_note(&w->made, is_open(w)
                                     ? "this wait has not ended: see poet blocked"
                                     : "no wait begins or ends with this event");
}

#define COST                                                                                       \
    4096u /* of a segment with all that is told below it, in intervals that are only looked at */

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    if (!causing_learn(&w->causing, budget))
        return false;
    if (!w->looked)
        begin_table(w);
    const struct wait *wait = w->is ? &w->why->paths.all->waits[w->index] : NULL;
    for (; wait && w->done < wait->count; w->done++) {
        if (!*budget)
            return false;
        add_segment(w, wait->segment + w->done, 0);
        *budget -= *budget < COST ? *budget : COST;
    }
    return true;
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    if (w->made.row_count >= ROWS)
        table_add_note(&w->made, "waits on further paths are left out");
    table_becomes(t, &w->made);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct work *w = work;
    shown_table_free(&w->made);
    charges_free(&w->charges);
    causing_free(&w->causing);
    free(w);
}

static const char *const by[] = {"segment", NULL};

const struct preset preset_why = {
    .what = "why", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};

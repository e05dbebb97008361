#include "server/queries/time_layout.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "base/map.h"
#include "server/queries/time_repair.h"
#include "server/run/event_times.h"

#include <stdlib.h>

/* An empty stretch of EMPTY_LEAST columns or more counts as EMPTY_AS, as it is drawn shortened. */
#define EMPTY_LEAST 12
#define EMPTY_AS 3
#define EVENTS_LEAST 20000u /* limit of events of a side; more for more columns */
#define COLUMN_MOST (1 << 30)
#define ROUNDS_MOST 16u /* maximum number of searches after repairs moved events */

struct time_layout_side {
    int way;          /* 1: right of the middle, -1: left of it */
    int64_t edge_ns;  /* times from the middle to here were searched */
    int64_t span_ns;  /* length of the next time span to search */
    uint32_t wanted;  /* columns requested */
    uint32_t columns; /* columns still to be found */
    int64_t cell;     /* last column counted */
    uint64_t events;
    bool tries; /* search one column beyond the limit, too: repairs may move its events */
    bool done;
};

struct marks { /* events in the count of columns: their times and synchronization points */
    struct mark {
        int64_t time_ns;
        uint64_t point;
    } *items;
    size_t count, room;
};

struct time_layout {
    const struct run *run;
    const struct visible_rows *drawn;
    struct layout_params placing; /* only the members that determine which events are drawn */
    const struct window_request *request;
    uint64_t column_ns, anchor;
    int64_t from_ns;
    uint32_t *lines; /* the drawn lines */
    uint32_t line_count, learnt; /* lines with unordered events that are indexed to the end */
    bool all_indexed; /* exclusive lines, too */
    uint64_t events_most;
    struct time_layout_side right, left;
    struct repaired_event *found;
    size_t count, room;
    size_t known; /* the first ones, sorted by position, are of earlier rounds */
    /* Events outside of both sides, at their repaired times; the first ones are sorted by time. */
    struct marks beyond;
    size_t sorted;
    struct marks counted; /* events of the time span being counted */
    /* By line - 1: an event that is not found yet is not before this time; NULL: not known. */
    int64_t *floors;
    int32_t middle;
    unsigned rounds;
    size_t kept; /* at the end: the first ones are in the window, the others right of it */
    struct map moved; /* position -> 1 + by how many ns its event was moved */
    bool aimed, unresolved, done;
};

static int64_t floor_to(int64_t ns, int64_t step)
{
    int64_t rest = ns % step;
    return ns - (rest < 0 ? rest + step : rest);
}

/* Returns the column of a time, at most COLUMN_MOST on either side. */
static int64_t cell_of(const struct time_layout *t, int64_t ns)
{
    int64_t column = (int64_t)t->column_ns, cell = floor_to(ns - t->from_ns, column) / column;
    return cell > COLUMN_MOST ? COLUMN_MOST : cell < -COLUMN_MOST ? -COLUMN_MOST : cell;
}

static int64_t cell_begin(const struct time_layout *t, int64_t cell)
{
    int64_t begin;
    if (__builtin_mul_overflow(cell, (int64_t)t->column_ns, &begin) ||
        __builtin_add_overflow(begin, t->from_ns, &begin))
        return cell < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
    return begin;
}

/* ---- lifetime ---- */

static void choose_lines(struct time_layout *t)
{
    t->lines = xcalloc(t->drawn->lines + 1, sizeof *t->lines);
    for (uint32_t line = 1; line <= t->drawn->lines; line++)
        if (t->placing.row_of[line - 1])
            t->lines[t->line_count++] = line;
    t->all_indexed = events_by_time_may_index(t->run, t->lines, t->line_count);
}

static void begin_side(struct time_layout *t, struct time_layout_side *side, int way,
                       int32_t middle, int64_t columns)
{
    int64_t span;
    columns = columns < 0 ? 0 : columns;
    *side = (struct time_layout_side){.way = way,
                                      .edge_ns = cell_begin(t, middle),
                                      .wanted = (uint32_t)columns,
                                      .columns = (uint32_t)columns,
                                      .cell = way > 0 ? middle - 1 : middle,
                                      .done = columns == 0};
    if (__builtin_mul_overflow(columns, (int64_t)t->column_ns, &span) || span > INT64_MAX / 8)
        span = INT64_MAX / 8;
    side->span_ns = span ? span : 1;
}

struct time_layout *time_layout_begin(const struct run *run, const struct visible_rows *drawn,
                                      const struct window_request *r, int64_t time_ns,
                                      uint64_t anchor)
{
    struct time_layout *t = xcalloc(1, sizeof *t);
    t->run = run;
    t->drawn = drawn;
    t->request = r;
    t->anchor = anchor;
    t->column_ns = r->column_ns > INT64_MAX / 8 ? INT64_MAX / 8 : r->column_ns;
    t->from_ns = time_ns;
    t->events_most = r->columns > EVENTS_LEAST / 4 ? 4ull * r->columns : EVENTS_LEAST;
    t->placing = (struct layout_params){.row_of = drawn->many ? drawn->is_drawn : drawn->row_of,
                                        .cluster = drawn->many ? &drawn->one : drawn->cluster,
                                        .rows = drawn->many ? 1 : drawn->row_count,
                                        .has_text = run_has_texts,
                                        .context = (void *)(uintptr_t)run};
    choose_lines(t);
    return t;
}

void time_layout_free(struct time_layout *t)
{
    if (!t)
        return;
    map_free(&t->moved);
    free(t->lines);
    free(t->found);
    free(t->beyond.items);
    free(t->counted.items);
    free(t->floors);
    free(t);
}

/* ---- events in a time span ---- */

struct time_layout_stretch {
    int64_t from_ns, to_ns;
};

static uint64_t count_in(const struct time_layout *t, struct time_layout_stretch s)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < t->line_count; i++)
        count += events_by_time_count(t->run, t->lines[i], t->all_indexed, s.from_ns, s.to_ns);
    return count;
}

static void add_found(struct time_layout *t, uint64_t position, int64_t time_ns)
{
    struct order_event e = order_event(t->run->order, position);
    t->found = array_reserve(t->found, &t->room, t->count + 1, sizeof *t->found);
    t->found[t->count++] =
        (struct repaired_event){position, e.point, time_ns, time_ns, NO_POSITION, e.line};
}

static bool is_known(const struct time_layout *t, uint64_t position)
{
    struct repaired_event key = {.position = position};
    return t->known && bsearch(&key, t->found, t->known, sizeof key, repaired_event_by_position);
}

static void time_layout_note_event(void *context, uint64_t position, int64_t time_ns)
{
    struct time_layout *t = context;
    if (layout_draws_event(t->run->order, &t->placing, position) && !is_known(t, position))
        add_found(t, position, time_ns);
}

static int by_time(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return x->time_ns != y->time_ns ? (x->time_ns < y->time_ns ? -1 : 1)
                                    : (x->point > y->point) - (x->point < y->point);
}

static void add_mark(struct marks *marks, int64_t time_ns, uint64_t point)
{
    marks->items =
        array_reserve(marks->items, &marks->room, marks->count + 1, sizeof *marks->items);
    marks->items[marks->count++] = (struct mark){time_ns, point};
}

/* Returns how many columns are used from one counted column to the next, including empty ones. */
static int64_t columns_between(int64_t from, int64_t to)
{
    int64_t empty = llabs(to - from) - 1;
    return 1 + (empty < 0 ? -1 : empty >= EMPTY_LEAST ? EMPTY_AS : empty);
}

/* Returns the column of an event that was found in a time span.  Its time is clamped to the
 * span, as times along a line can decrease if clocks differ. */
static int64_t cell_within(const struct time_layout *t, int64_t time_ns,
                           struct time_layout_stretch s)
{
    int64_t last_ns = s.to_ns > s.from_ns ? s.to_ns - 1 : s.from_ns;
    time_ns = time_ns < s.from_ns ? s.from_ns : time_ns > last_ns ? last_ns : time_ns;
    return cell_of(t, time_ns);
}

/* Counts the columns of marked events, from the middle outwards.  Returns false if a column
 * exceeds the limit: the side then ends before it, or after it with `tries`. */
static bool count_columns(const struct time_layout *t, struct time_layout_side *side,
                          const struct marks *marks, struct time_layout_stretch s)
{
    uint64_t point = NO_POSITION;
    if (marks->count)
        qsort(marks->items, marks->count, sizeof *marks->items, by_time);
    for (size_t i = 0; i < marks->count; i++) {
        const struct mark *m = &marks->items[side->way > 0 ? i : marks->count - 1 - i];
        int64_t cell = cell_within(t, m->time_ns, s), more = columns_between(side->cell, cell);
        more = cell == side->cell ? m->point != point : more;
        if (cell != side->cell && more > side->columns) {
            side->edge_ns = cell_begin(t, (side->way > 0) != side->tries ? cell : cell + 1);
            return false;
        }
        side->columns -= more > side->columns ? side->columns : (uint32_t)more;
        side->cell = cell;
        point = m->point;
    }
    return true;
}

/* Marks an event that was just found.  Right of the window, its time is not before the floor of
 * its line, whatever its clock says. */
static void mark_found(struct time_layout *t, int way, const struct repaired_event *f,
                       struct time_layout_stretch s)
{
    int64_t time_ns = f->time_ns;
    if (way > 0 && t->floors && t->floors[f->line - 1] > time_ns)
        time_ns = t->floors[f->line - 1];
    add_mark(time_ns > f->time_ns && time_ns >= s.to_ns ? &t->beyond : &t->counted, time_ns,
             f->point);
}

/* Returns the index of the first sorted event of `beyond` at or after a time. */
static size_t first_beyond(const struct time_layout *t, int64_t time_ns)
{
    return LOWER_BOUND(i, 0, t->sorted, t->beyond.items[i].time_ns < time_ns);
}

static void mark_beyond(struct time_layout *t, size_t first, size_t end,
                        struct time_layout_stretch s)
{
    for (size_t i = first; i < end; i++) {
        struct mark m = t->beyond.items[i];
        if (m.time_ns >= s.from_ns && m.time_ns < s.to_ns)
            add_mark(&t->counted, m.time_ns, m.point);
    }
}

/* Counts the columns of a time span: of the events found in it, which begin at `first`, and of
 * those that repairs moved there.  Events beyond the limit stay in `found`, outside of the edge. */
static void count_stretch(struct time_layout *t, struct time_layout_side *side, size_t first,
                          struct time_layout_stretch s)
{
    t->counted.count = 0;
    mark_beyond(t, first_beyond(t, s.from_ns), first_beyond(t, s.to_ns), s);
    mark_beyond(t, t->sorted, t->beyond.count, s);
    for (size_t i = first; i < t->count; i++)
        mark_found(t, side->way, &t->found[i], s);
    side->done = !count_columns(t, side, &t->counted, s);
}

/* ---- search ---- */

static bool time_layout_is_outside(const struct time_layout *t, const struct time_layout_side *side)
{
    return side->way > 0 ? side->edge_ns > t->run->clock.last_ns
                         : side->edge_ns <= event_times_begin(t->run);
}

/* Returns how far the column that is searched last extends beyond the edge. */
static int64_t time_layout_column_rest(const struct time_layout *t,
                                       const struct time_layout_side *side)
{
    int64_t column = (int64_t)t->column_ns, from_ns = side->edge_ns - t->from_ns,
            begun = from_ns - floor_to(from_ns, column);
    return side->way < 0 || !begun ? begun : column - begun;
}

/* Once there are enough columns, only the rest of the last one is searched: requests begin at
 * columns, so no later one could continue within it. */
static struct time_layout_stretch next_stretch(const struct time_layout *t,
                                               const struct time_layout_side *side)
{
    int64_t edge_ns = side->edge_ns, span_ns = side->span_ns;
    if (!side->columns && time_layout_column_rest(t, side) < span_ns)
        span_ns = time_layout_column_rest(t, side);
    return side->way > 0 ? (struct time_layout_stretch){edge_ns, edge_ns + span_ns}
                         : (struct time_layout_stretch){edge_ns - span_ns, edge_ns};
}

/* Searches the next time span: halved until it has few enough events, and longer next time if it
 * had few.  Returns the cost in events. */
static uint64_t time_layout_scan_further(struct time_layout *t, struct time_layout_side *side)
{
    uint64_t most = 4ull * side->columns + 256, count, looks = 1;
    struct time_layout_stretch s = next_stretch(t, side);
    bool enough = !side->columns && !time_layout_column_rest(t, side);
    if (time_layout_is_outside(t, side) || enough || side->events > t->events_most) {
        side->done = true;
        return 0;
    }
    while ((count = count_in(t, s)) > most && side->span_ns > 1) {
        side->span_ns /= 2;
        s = next_stretch(t, side);
        looks++;
    }
    size_t first = t->count;
    for (uint32_t i = 0; i < t->line_count; i++)
        events_by_time_visit(t->run, t->lines[i], t->all_indexed, s.from_ns, s.to_ns,
                             time_layout_note_event, t);
    side->edge_ns = side->way > 0 ? s.to_ns : s.from_ns;
    count_stretch(t, side, first, s);
    side->events += t->count - first;
    if (count < most / 8 && side->span_ns < INT64_MAX / 64)
        side->span_ns *= 8;
    return count + looks * t->line_count * 16;
}

/* ---- repair ---- */

/* Finds positions first .. after - 1 of the log, in which events before a time and after it are
 * mixed: a repair moves no other event across that time.  Returns false if there are too many. */
static bool find_mixed(const struct time_layout *t, int64_t time_ns, uint64_t *first,
                       uint64_t *after)
{
    *first = NO_POSITION;
    *after = 0;
    for (uint32_t i = 0; i < t->line_count; i++)
        events_by_time_bounds(t->run, t->lines[i], t->all_indexed, time_ns, first, after);
    if (*first != NO_POSITION && *first < *after)
        *first = order_event(t->run->order, *first).point;
    else
        *after = *first;
    return *after - *first < REPAIR_LOG_MAX;
}

static void note_mixed(struct time_layout *t, uint64_t first, uint64_t after)
{
    t->known = t->count;
    if (t->known)
        qsort(t->found, t->known, sizeof *t->found, repaired_event_by_position);
    for (uint64_t p = first; p < after; p++)
        time_layout_note_event(t, p, event_times_point(t->run, p));
}

/* Adds the events beyond an edge, by their clocks, that a repair may move into the window, or
 * that may move events in it. */
static void time_layout_note_outside(struct time_layout *t, int64_t edge_ns)
{
    uint64_t first, after;
    if (find_mixed(t, edge_ns, &first, &after))
        note_mixed(t, first, after);
    else
        t->unresolved = true;
}

/* Returns the repaired time of the anchor, as it is drawn. */
static int64_t repaired_anchor(struct time_layout *t)
{
    const struct order *order = t->run->order;
    uint64_t point = order_event(order, t->anchor).point, first, after;
    int64_t time_ns = event_times_point(t->run, t->anchor);
    if (find_mixed(t, time_ns, &first, &after) && first < point) {
        note_mixed(t, first, point);
        add_found(t, point, time_ns);
        time_repair_events(order, t->found, t->count);
        time_ns = t->found[t->count - 1].time_ns;
    }
    t->count = t->known = 0;
    return time_ns;
}

/* Puts the events in the window first, then those right of it; drops those left of it.  So the
 * window is a closed cut: the predecessors of each of its events are in it or left of it. */
static void keep_window(struct time_layout *t)
{
    struct repaired_event *beyond = xmalloc((t->count + 1) * sizeof *beyond);
    size_t right = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct repaired_event f = t->found[i];
        if (f.time_ns >= t->right.edge_ns)
            beyond[right++] = f;
        else if (f.time_ns >= t->left.edge_ns)
            t->found[t->kept++] = f;
    }
    for (size_t i = 0; i < right; i++)
        t->found[t->kept + i] = beyond[i];
    t->count = t->kept + right;
    free(beyond);
}

static void repair_window(struct time_layout *t)
{
    time_layout_note_outside(t, t->left.edge_ns);
    time_layout_note_outside(t, t->right.edge_ns);
    time_repair_events(t->run->order, t->found, t->count);
    t->known = t->count;
}

static void note_moved(struct time_layout *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct repaired_event *f = &t->found[i];
        int64_t own = event_times_fitted(t->run, f->position);
        if (f->time_ns > own)
            map_put(&t->moved, f->position, 0, (void *)(uintptr_t)(f->time_ns - own + 1));
    }
}

/* ---- further search after repairs moved events ---- */

/* Counts the columns of a side by repaired times, and moves its edge if they exceed the limit.
 * Returns true if more columns fit. */
static bool count_again(struct time_layout *t, struct time_layout_side *side)
{
    int64_t middle_ns = cell_begin(t, t->middle);
    struct time_layout_stretch s = side->way > 0
                                       ? (struct time_layout_stretch){middle_ns, side->edge_ns}
                                       : (struct time_layout_stretch){side->edge_ns, middle_ns};
    side->columns = side->wanted;
    side->cell = side->way > 0 ? t->middle - 1 : t->middle;
    side->tries = false;
    t->counted.count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->found[i].time_ns >= s.from_ns && t->found[i].time_ns < s.to_ns)
            add_mark(&t->counted, t->found[i].time_ns, t->found[i].point);
    return count_columns(t, side, &t->counted, s) && side->columns;
}

/* Returns true if the side is to be searched further. */
static bool time_layout_continue_side(struct time_layout *t, struct time_layout_side *side)
{
    bool more = count_again(t, side) && t->rounds < ROUNDS_MOST;
    if (!more || side->events > t->events_most || time_layout_is_outside(t, side))
        return false;
    side->tries = true;
    side->done = false;
    return true;
}

/* Sets the floors of the lines, as each event still to be found follows all found ones of its
 * line, and collects the events that lie beyond the edges at their repaired times. */
static void learn_moved(struct time_layout *t)
{
    if (!t->floors)
        t->floors = xmalloc((t->drawn->lines + 1) * sizeof *t->floors);
    for (uint32_t i = 0; i < t->drawn->lines; i++)
        t->floors[i] = INT64_MIN;
    t->beyond.count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct repaired_event *f = &t->found[i];
        int64_t *floor = &t->floors[f->line - 1];
        if (!order_line_shared(t->run->order, f->line))
            *floor = f->time_ns > *floor ? f->time_ns : *floor;
        if (f->time_ns < t->left.edge_ns || f->time_ns >= t->right.edge_ns)
            add_mark(&t->beyond, f->time_ns, f->point);
    }
    if (t->beyond.count)
        qsort(t->beyond.items, t->beyond.count, sizeof *t->beyond.items, by_time);
    t->sorted = t->beyond.count;
}

static bool has_moved(const struct time_layout *t)
{
    size_t i = 0;
    while (i < t->count && t->found[i].time_ns <= t->found[i].clock_ns)
        i++;
    return i < t->count;
}

static bool look_further(struct time_layout *t)
{
    if (t->unresolved || !has_moved(t))
        return false;
    t->rounds++;
    bool left = time_layout_continue_side(t, &t->left),
         right = time_layout_continue_side(t, &t->right);
    if (left || right)
        learn_moved(t);
    return left || right;
}

/* Sets the begin of column 0, and begins both sides at the middle. */
static void time_layout_set_origin(struct time_layout *t)
{
    const struct window_request *r = t->request;
    int64_t end = (int64_t)r->from + r->columns, middle = r->middle;
    middle = middle < r->from ? r->from : middle > end ? end : middle;
    int64_t time_ns = t->anchor == NO_POSITION ? t->from_ns : repaired_anchor(t);
    time_ns = time_ns > INT64_MAX / 4   ? INT64_MAX / 4
              : time_ns < INT64_MIN / 4 ? INT64_MIN / 4
                                        : time_ns;
    t->from_ns = floor_to(time_ns, (int64_t)t->column_ns);
    t->middle = (int32_t)middle;
    begin_side(t, &t->right, 1, (int32_t)middle, end - middle);
    begin_side(t, &t->left, -1, (int32_t)middle, middle - r->from);
    t->aimed = true;
}

bool time_layout_step(struct time_layout *t, uint64_t budget)
{
    uint64_t spent = 0;
    for (; t->learnt < t->line_count; t->learnt++)
        if (!events_by_time_update(t->run, t->lines[t->learnt], t->all_indexed, &budget))
            return false;
    if (!t->aimed)
        time_layout_set_origin(t);
    while (!t->done && spent <= budget) {
        struct time_layout_side *side = !t->left.done ? &t->left : &t->right;
        if (!side->done) {
            spent += time_layout_scan_further(t, side);
            continue;
        }
        repair_window(t);
        if (look_further(t))
            continue;
        note_moved(t);
        keep_window(t);
        t->done = true;
    }
    return t->done;
}

/* ---- results ---- */

/* Lowers the number of events left of the window for an event that is there by its clock only. */
static void move_edge(const struct time_layout *t, struct layout_result *p,
                      const struct repaired_event *f)
{
    const struct order *order = t->run->order;
    uint64_t *before = &p->before[f->line - 1], first = order_line_first(order, f->line);
    if (!order_line_shared(order, f->line)) {
        uint64_t ordinal = order_line_from(order, f->line, f->position);
        *before = ordinal < *before ? ordinal : *before;
    } else if (*before > first) {
        *before -= f->clock_ns < t->left.edge_ns;
    }
}

static void find_edges(const struct time_layout *t, struct layout_result *p)
{
    const struct order *order = t->run->order;
    for (uint32_t i = 0; i < t->line_count; i++) {
        uint32_t line = t->lines[i];
        uint64_t first = order_line_first(order, line), end = order_line_events(order, line);
        p->before[line - 1] = events_by_time_first(t->run, line, t->all_indexed, t->left.edge_ns);
        p->more_right |= first + events_by_time_count(t->run, line, t->all_indexed, INT64_MIN,
                                                      t->right.edge_ns) <
                         end;
    }
    for (size_t i = 0; i < t->count; i++)
        move_edge(t, p, &t->found[i]);
    p->more_right |= t->kept < t->count;
    for (uint32_t i = 0; i < t->line_count; i++)
        p->more_left |= p->before[t->lines[i] - 1] > order_line_first(order, t->lines[i]);
}

void time_layout_collect(struct time_layout *t, struct layout_result *p)
{
    *p = (struct layout_result){.first = INT32_MAX, .last = INT32_MIN};
    p->before = xcalloc(t->drawn->lines + 1, sizeof *p->before);
    p->events = array_reserve(NULL, &p->room, t->kept + 1, sizeof *p->events);
    for (size_t i = 0; i < t->kept; i++) {
        int32_t column = (int32_t)cell_of(t, t->found[i].time_ns);
        p->events[p->count++] = (struct layout_event){t->found[i].position, column, 0, 0};
        p->first = column < p->first ? column : p->first;
        p->last = column > p->last ? column : p->last;
    }
    p->unresolved =
        t->unresolved || t->left.events > t->events_most || t->right.events > t->events_most;
    find_edges(t, p);
}

uint64_t time_layout_behind(const struct time_layout *t, uint64_t position)
{
    struct repaired_event key = {.position = position};
    const struct repaired_event *f =
        t->kept ? bsearch(&key, t->found, t->kept, sizeof key, repaired_event_by_position) : NULL;
    return f ? f->behind : NO_POSITION;
}

int64_t time_layout_origin(const struct time_layout *t) { return t->from_ns; }

int64_t time_layout_time(const struct time_layout *t, uint64_t position)
{
    uint64_t moved = t->moved.count ? (uint64_t)(uintptr_t)map_get(&t->moved, position, 0) : 0;
    return event_times_fitted(t->run, position) + (moved ? (int64_t)(moved - 1) : 0);
}

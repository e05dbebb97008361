/* The table of why one wait took so long: the two paths since the two met last side by side, then the waits in them. */
#include "memory/memory.h"
#include "server/answer/causing.h"
#include "server/answer/explained.h"
#include "server/causes/charges.h"

#include <stdlib.h>

#define NESTED 8 /* waits on the other's path that are told, the longest */
#define CAUSES 4 /* of each */

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
    SINCE_NS
};

struct work {
    struct causing causing;
    struct charges charges;
    struct why *why;
    uint64_t position; /* of the event asked about */
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
    w->position = position;
    w->charges.communication = explained_communication();
    w->why = explained_known(view->run, w->causing.since);
    return w;
}

static bool step(void *work, uint64_t *budget)
{
    return causing_learn(&((struct work *)work)->causing, budget);
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
}

static const struct wait *find(const struct work *w, size_t *index)
{
    const struct intervals *all = w->why->paths.all;
    for (size_t i = 0; i < w->why->done; i++)
        if (all->waits[i].begin == w->position || all->waits[i].end == w->position) {
            *index = i;
            return &all->waits[i];
        }
    return NULL;
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

static void add_paths(const struct table_view *view, struct work *w, uint32_t segment,
                      struct shown_table *t)
{
    struct both *rows;
    size_t count = both_paths(w, segment, &rows);
    for (size_t i = 0; i < count; i++) {
        struct table_cell *cells;
        if (!rows[i].theirs && !rows[i].mine)
            continue; /* it came and went */
        if (!(cells = table_add_row(t, 1, (struct ref){0})))
            break;
        int64_t charge = charged(w, rows[i].step);
        cells[THREAD] = cell_line(rows[i].thread);
        cells[STEP] = causing_step(view, rows[i].step);
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

/* The longest waits of a thread that lie in a stretch whole; returns how many. */
static size_t nested(const struct work *w, uint32_t line, int64_t from_ns, int64_t to_ns,
                     const struct wait *longest[NESTED])
{
    const struct intervals *all = w->why->paths.all;
    const struct course_of *course = intervals_of(all, line);
    size_t count = 0;
    for (size_t i = course ? intervals_at(course, from_ns) : 0;
         course && i < course->count && course->items[i].to_ns <= to_ns; i++) {
        if (course->items[i].is != INTERVAL_SEGMENT)
            continue;
        const struct wait *wait = &all->waits[all->segments[course->items[i].of].wait];
        size_t at = count;
        if (course->items[i].of != wait->segment || wait->from_ns < from_ns)
            continue;
        while (at && length(longest[at - 1]) < length(wait))
            at--;
        for (size_t k = count < NESTED ? count : NESTED - 1; k > at; k--)
            longest[k] = longest[k - 1];
        if (at < NESTED)
            longest[at] = wait;
        count += count < NESTED;
    }
    return count;
}

static int larger(const void *a, const void *b)
{
    const struct charge *x = a, *y = b;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : x->pair < y->pair ? -1 : x->pair > y->pair;
}

static void add_charges(const struct table_view *view, struct work *w, uint32_t segment,
                        struct shown_table *t)
{
    const struct intervals *all = w->why->paths.all;
    charges_of(&w->charges, w->why, segment, PATH_EXPANDED,
               all->segments[segment].to_ns - segment_begin(all, segment));
    if (w->charges.count)
        qsort(w->charges.items, w->charges.count, sizeof *w->charges.items, larger);
    for (size_t i = 0; i < w->charges.count && i < CAUSES; i++) {
        struct table_cell *cells = table_add_row(t, 2, (struct ref){0});
        if (!cells)
            return;
        struct pair pair = why_pair(w->why, w->charges.items[i].pair);
        cells[THREAD] = cell_line(pair.thread);
        cells[STEP] = causing_step(view, pair.step);
        cells[CHARGE] = cell_number(w->charges.items[i].ns);
    }
}

static void add_nested(const struct table_view *view, struct work *w, const struct wait *wait,
                       struct shown_table *t)
{
    const struct intervals *all = w->why->paths.all;
    for (uint32_t i = wait->segment; i < wait->segment + wait->count; i++) {
        struct table_cell *cells = table_add_row(t, 1, table_event(view, wait->begin));
        if (!cells)
            return;
        cells[WAITED] = cell_number(all->segments[i].to_ns - segment_begin(all, i));
        cells[THREAD] = cell_line(all->segments[i].thread);
        cells[WHERE] = cell_place(table_place(view, wait->place));
        cells[CLASS] = causing_text(causing_class(all->segments[i].class));
        table_row_line(t, wait->thread);
        add_charges(view, w, i, t);
    }
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

static void add_segment(const struct table_view *view, struct work *w, uint32_t index,
                        struct shown_table *t)
{
    const struct intervals *all = w->why->paths.all;
    const struct segment *segment = &all->segments[index];
    const struct wait *wait = &all->waits[segment->wait], *longest[NESTED];
    struct table_cell *cells = table_add_row(t, 0, table_event(view, segment->release));
    int64_t ns = segment->to_ns - segment_begin(all, index);
    bool meeting = why_by_meeting(w->why, index);
    struct encounter met = why_since(w->why, index);
    int64_t since = meeting ? met.at_ns : segment_begin(all, index);
    if (!cells)
        return;
    cells[WAITED] = cell_number(ns);
    cells[THREAD] = cell_line(segment->thread);
    cells[WHERE] = cell_place(table_place(view, wait->place));
    cells[CLASS] = causing_text(segment->guess ? "guessed" : causing_class(segment->class));
    cells[SINCE] = cell_text(since_when(w, index, met.how));
    cells[SINCE_NS] = cell_number(since);
    table_row_line(t, wait->thread);
    table_row_line(t, segment->thread);
    charges_of(&w->charges, w->why, index, PATH_EXPANDED, ns);
    add_paths(view, w, index, t);
    size_t count = nested(w, segment->thread, since, segment->to_ns, longest);
    for (size_t i = 0; i < count; i++)
        add_nested(view, w, longest[i], t);
}

static void say_whole(const struct wait *wait, struct shown_table *t)
{
    table_make_total(t)[WAITED] = cell_number(length(wait));
    if (wait->unexplained)
        table_add_note(t, "nothing that is recorded ended this wait: it is not explained");
    else if (!wait->count)
        table_add_note(t, "the clock ended this wait");
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    size_t index;
    const struct wait *wait = find(w, &index);
    t->title = memory_copied("why");
    add_columns(t);
    if (!wait) {
        table_add_note(t, "no wait begins or ends with this event");
        return;
    }
    for (uint32_t i = 0; i < wait->count; i++)
        add_segment(view, w, wait->segment + i, t);
    say_whole(wait, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct work *w = work;
    charges_free(&w->charges);
    causing_free(&w->causing);
    free(w);
}

static const char *const by[] = {"segment", NULL};

const struct preset preset_why = {
    .what = "why", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};

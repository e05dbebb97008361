/* Table that explains one wait: the two paths since the last synchronization side by side, then the
 * waits on the awaited thread's path, each with its own two. */
#include "base/alloc.h"
#include "base/lower_bound.h"
#include "server/analysis/wait_attribution.h"
#include "server/queries/attribution_cache.h"
#include "server/queries/tables/attribution_cells.h"
#include "server/run/call_sites.h"
#include "server/run/cpu_placement.h"

#include <stdlib.h>

#define NESTED 8 /* waits shown on the awaited thread's path: the longest */
#define DEEPER 3 /* waits shown on the path of each of those */
#define DEEPEST 4 /* maximum depth of nested waits */
#define ROWS 4096 /* limit of rows, above which further waits are left out */

enum why_column {
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

static const struct column_definition wait_explanation_columns[] = {
    [WAITED] = {"waited_ns", "wait time", .kind = TABLE_NS},
    [THREAD] = {"thread", "awaited thread", .kind = TABLE_LINE},
    [STEP] = {"segment", "code segment", .kind = TABLE_STEP},
    [THEIRS] = {"awaited_ns", .kind = TABLE_NS},
    [MINE] = {"waiter_ns", .kind = TABLE_NS},
    [DIFFERENCE] = {"difference_ns", .kind = TABLE_NS},
    [CHARGE] = {"attributed_ns", .kind = TABLE_NS},
    [WHERE] = {"location", .kind = TABLE_PLACE},
    [CLASS] = {"wait_class", "class", .kind = TABLE_TEXT},
    [SINCE] = {"diverged_by", "compared since", .kind = TABLE_TEXT},
    [SINCE_NS] = {"diverged_ns", "since time", .kind = TABLE_NS},
    [SINCE_EVENT] = {"diverged_event", "since event", .kind = TABLE_EVENT, .detail = true},
    [SINCE_WHERE] = {"diverged_location", "since location", .kind = TABLE_PLACE, .detail = true},
};

struct why_work {
    const struct table_view *view;
    struct attribution_cells causing;
    struct attribution charges;
    struct wait_attribution *why;
    uint64_t position; /* position of the requested event */
    struct result_table made;
    bool looked, is; /* the wait was searched; it was found */
    size_t index; /* of the wait */
    uint32_t done; /* number of its wait intervals in the table */
};

static void *wait_explanation_begin(const struct table_view *view, struct error *error)
{
    struct event_id event = attribution_cells_event(view, "event");
    uint64_t position = event.line ? order_position(view->run->order, event) : NO_POSITION;
    struct why_work *w = xcalloc(1, sizeof *w);
    if (position == NO_POSITION)
        error_set(error, "why: missing event that starts or ends a wait");
    if (*error->text || !attribution_cells_begin(&w->causing, view, error)) {
        attribution_cells_free(&w->causing);
        free(w);
        return NULL;
    }
    w->view = view;
    w->position = position;
    w->charges.communication = attribution_cache_communication();
    w->why = attribution_cache_get(view->run, w->causing.since);
    return w;
}

/* ---- the wait ---- */

/* Returns the position at which an interval of a thread ends or, if it is part of a wait, the
 * position at which the wait ends.  These positions never decrease along a thread. */
static uint64_t end_of(const struct intervals *all, const struct thread_timeline *course, size_t i)
{
    while (i && course->items[i].is == INTERVAL_RUNS && !course->items[i].position)
        i--; /* it only separates the time before a group from that after it */
    const struct interval *at = &course->items[i];
    if (at->is == INTERVAL_RUNS)
        return at->position;
    return all->waits[at->is == INTERVAL_SEGMENT ? all->segments[at->of].wait : at->of].end;
}

static size_t first_after(const struct intervals *all, const struct thread_timeline *course,
                          uint64_t position)
{
    return LOWER_BOUND(i, 0, course->count, end_of(all, course, i) < position);
}

/* Returns whether an interval belongs to a wait with a known attribution; sets the wait's
 * index. */
static bool is_wait(const struct why_work *w, const struct thread_timeline *course, size_t i,
                    size_t *index)
{
    const struct intervals *all = w->why->paths.all;
    if (i >= course->count || course->items[i].is == INTERVAL_RUNS)
        return false;
    bool segment = course->items[i].is == INTERVAL_SEGMENT;
    *index = segment ? all->segments[course->items[i].of].wait : course->items[i].of;
    return *index < w->why->done;
}

static bool wait_explanation_find_wait(struct why_work *w)
{
    const struct intervals *all = w->why->paths.all;
    const struct order *order = w->view->run->order;
    struct order_event event = order_event(order, w->position);
    const struct thread_timeline *course = intervals_for_thread(all, event.thread);
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

/* A code segment on one path, or on both. */
struct why_paths_row {
    uint32_t step, thread; /* thread: the one that ran it longest on the awaited thread's path */
    int64_t theirs, mine, most;
};

static int by_step(const void *a, const void *b)
{
    const struct why_paths_row *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

static int by_difference(const void *a, const void *b)
{
    const struct why_paths_row *x = a, *y = b;
    int64_t p = x->theirs - x->mine, q = y->theirs - y->mine;
    return p != q ? (p > q ? -1 : 1) : by_step(a, b);
}

static size_t wait_explanation_merge_rows(struct why_paths_row *rows, size_t count)
{
    size_t n = 0;
    if (count)
        qsort(rows, count, sizeof *rows, by_step);
    for (size_t i = 0; i < count; i++) {
        if (!n || rows[n - 1].step != rows[i].step) {
            rows[n++] = rows[i];
            continue;
        }
        struct why_paths_row *to = &rows[n - 1];
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

/* Computes both paths; returns the number of their rows.  The caller frees *rows. */
static size_t both_paths(struct why_work *w, uint32_t segment, struct why_paths_row **rows)
{
    struct accumulator theirs = {0}, mine = {0};
    size_t count = 0;
    wait_attribution_paths(w->why, segment, &theirs, &mine);
    *rows = xcalloc(theirs.count + mine.count + 1, sizeof **rows);
    for (size_t i = 0; i < theirs.count; i++) {
        struct segment_id pair = wait_attribution_pair(w->why, theirs.keys[i]);
        int64_t ns = theirs.ns[theirs.keys[i]];
        (*rows)[count++] = (struct why_paths_row){pair.step, pair.thread, ns, 0, ns};
    }
    for (size_t i = 0; i < mine.count; i++)
        (*rows)[count++] = (struct why_paths_row){wait_attribution_pair(w->why, mine.keys[i]).step,
                                                  0, 0, mine.ns[mine.keys[i]], INT64_MIN};
    accumulator_free(&theirs);
    accumulator_free(&mine);
    return wait_explanation_merge_rows(*rows, count);
}

static int64_t wait_explanation_attributed_ns(const struct why_work *w, uint32_t step)
{
    int64_t sum = 0;
    for (size_t i = 0; i < w->charges.count; i++)
        if (wait_attribution_pair(w->why, w->charges.items[i].pair).step == step)
            sum += w->charges.items[i].ns;
    return sum;
}

static void add_paths(struct why_work *w, uint32_t segment, uint8_t depth)
{
    struct why_paths_row *rows;
    size_t count = both_paths(w, segment, &rows);
    for (size_t i = 0; i < count; i++) {
        struct table_cell *cells;
        if (!rows[i].theirs && !rows[i].mine)
            continue; /* its times cancel out */
        if (!(cells = table_add_row(&w->made, depth, (struct event_id){0})))
            break;
        int64_t charge = wait_explanation_attributed_ns(w, rows[i].step);
        cells[THREAD] = table_cell_line(rows[i].thread);
        cells[STEP] = attribution_cells_step(w->view, rows[i].step);
        cells[THEIRS] = table_cell_number(rows[i].theirs);
        cells[MINE] = table_cell_number(rows[i].mine);
        cells[DIFFERENCE] = table_cell_number(rows[i].theirs - rows[i].mine);
        if (charge)
            cells[CHARGE] = table_cell_number(charge);
    }
    free(rows);
}

/* ---- nested waits ---- */

static int64_t wait_explanation_wait_length(const struct wait_record *wait)
{
    return wait->to_ns - wait->from_ns;
}

/* Inserts a wait into the sorted list of the longest ones; returns how many there are now. */
static size_t wait_explanation_keep_longest(const struct wait_record *longest[NESTED], size_t count,
                                            size_t most, const struct wait_record *wait)
{
    size_t at = count;
    while (at && wait_explanation_wait_length(longest[at - 1]) < wait_explanation_wait_length(wait))
        at--;
    for (size_t k = count < most ? count : most - 1; k > at; k--)
        longest[k] = longest[k - 1];
    if (at < most)
        longest[at] = wait;
    return count + (count < most);
}

/* Finds the longest waits of a thread that end in a span of time; returns their number. */
static size_t wait_explanation_longest_nested(const struct why_work *w, uint32_t line,
                                              int64_t from_ns, int64_t to_ns, size_t most,
                                              const struct wait_record *longest[NESTED])
{
    const struct intervals *all = w->why->paths.all;
    const struct thread_timeline *course = intervals_for_thread(all, line);
    const struct wait_record *before = NULL;
    size_t count = 0;
    for (size_t i = course ? intervals_at(course, from_ns) : 0;
         course && i < course->count && course->items[i].to_ns <= to_ns; i++) {
        if (course->items[i].is != INTERVAL_SEGMENT)
            continue;
        const struct wait_record *wait = &all->waits[all->segments[course->items[i].of].wait];
        if (wait != before)
            count = wait_explanation_keep_longest(longest, count, most, wait);
        before = wait;
    }
    return count;
}

/* ---- a wait interval ---- */

static const char *since_when(const struct why_work *w, uint32_t segment, enum sync_kind how)
{
    static const char *const words[] = {[SYNC_KIND_WAITING] = "wake-up",
                                        [SYNC_KIND_GATHERING] = "barrier or collective",
                                        [SYNC_KIND_MADE] = "thread creation",
                                        [SYNC_KIND_PARTED] = "creation of their ancestors",
                                        [SYNC_KIND_NEVER] = "start of run"};
    return wait_attribution_by_sync(w->why, segment) ? words[how] : "start of wait";
}

/* Sets the cells of the event of the last synchronization, and of its call site. */
static void add_event(const struct why_work *w, struct table_cell *cells, uint32_t segment)
{
    const struct intervals *all = w->why->paths.all;
    uint64_t position = wait_attribution_by_sync(w->why, segment)
                            ? wait_attribution_since(w->why, segment).position
                            : all->waits[all->segments[segment].wait].begin;
    struct event_id event = table_event(w->view, position);
    if (!event.line)
        return; /* no event, several, or one that was discarded */
    uint32_t site = order_event(w->view->run->order, position).site;
    cells[SINCE_EVENT] = table_cell_event(event);
    cells[SINCE_WHERE] =
        table_cell_place(table_place(w->view, call_sites_for_line(w->view->run, site)));
}

static struct table_cell *add_head(struct why_work *w, uint32_t index, int64_t since, uint8_t depth)
{
    const struct intervals *all = w->why->paths.all;
    const struct wait_interval *segment = &all->segments[index];
    const struct wait_record *wait = &all->waits[segment->wait];
    struct event_id event = table_event(w->view, depth ? wait->begin : segment->release);
    struct table_cell *cells = table_add_row(&w->made, depth, event);
    if (!cells)
        return NULL;
    cells[WAITED] = table_cell_number(segment->to_ns - wait_interval_begin(all, index));
    cells[THREAD] = table_cell_line(segment->thread);
    cells[WHERE] = table_cell_place(table_place(w->view, wait->place));
    cells[CLASS] = attribution_cells_text(segment->guess ? "ambiguous"
                                                         : attribution_cells_class(segment->class));
    cells[SINCE] = table_cell_text(since_when(w, index, wait_attribution_since(w->why, index).how));
    cells[SINCE_NS] = table_cell_number(since);
    add_event(w, cells, index);
    table_row_line(&w->made, wait->thread);
    table_row_line(&w->made, segment->thread);
    return cells;
}

/* Adds a wait interval: the awaited thread, the two paths, and the waits on the awaited thread's
 * path. */
static void add_segment(struct why_work *w, uint32_t index, uint8_t depth)
{
    const struct intervals *all = w->why->paths.all;
    const struct wait_interval *segment = &all->segments[index];
    const struct wait_record *longest[NESTED];
    int64_t begin = wait_interval_begin(all, index),
            since = wait_attribution_by_sync(w->why, index)
                        ? wait_attribution_since(w->why, index).at_ns
                        : begin;
    if (segment->to_ns <= begin || !add_head(w, index, since, depth))
        return;
    attribution_compute(&w->charges, w->why, index, PATH_EXPANDED, segment->to_ns - begin);
    add_paths(w, index, (uint8_t)(depth + 1));
    if (depth + 1 >= DEEPEST)
        return;
    size_t count = wait_explanation_longest_nested(w, segment->thread, since, segment->to_ns,
                                                   depth ? DEEPER : NESTED, longest);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < longest[i]->count && w->made.row_count < ROWS; k++)
            if (all->segments[longest[i]->segment + k].to_ns > since)
                add_segment(w, longest[i]->segment + k, (uint8_t)(depth + 1));
}

/* Adds the resume delay of the wait: cells of the total, and a note. */
static void wait_explanation_add_resume_delay(const struct why_work *w,
                                              const struct wait_record *wait,
                                              struct result_table *t, struct table_cell *total)
{
    struct resume_delay g =
        resume_delay_measure(cpu_placement_states(w->view->run), w->why->paths.all, wait,
                             !w->view->run->programs.connected);
    double ms = 1e6;
    attribution_cells_resume_delay(total + GOING_ON, &g);
    if (!g.took_ns)
        return;
    if (g.source == CPU_SOURCE_ORDER)
        table_add_note(t, "resume delay %.3f ms; CPU availability: %s", (double)g.took_ns / ms,
                       resume_delay_source(g.source));
    else
        table_add_note(t,
                       "resume delay %.3f ms: %.3f ms runnable without a CPU, %.3f ms wake-up "
                       "latency (%s)",
                       (double)g.took_ns / ms, (double)g.ready_ns / ms,
                       (double)(g.took_ns - g.ready_ns) / ms, resume_delay_source(g.source));
}

static void wait_explanation_add_totals(const struct why_work *w, const struct wait_record *wait,
                                        struct result_table *t)
{
    struct table_cell *total = table_make_total(t);
    total[WAITED] = table_cell_number(wait_explanation_wait_length(wait));
    wait_explanation_add_resume_delay(w, wait, t, total);
    if (wait->unexplained)
        table_add_note(t, "no traced event ended this wait (unattributed)");
    else if (wait->class == WAIT_TIMEOUT)
        table_add_note(t, "this wait timed out");
    else if (!wait->count)
        table_add_note(t, "already unblocked: this is wake-up latency");
}

/* Returns whether a wait that has not ended begins with the requested event. */
static bool is_open(const struct why_work *w)
{
    for (size_t i = 0; i < w->view->lives.open_count; i++)
        if (w->view->lives.open[i].begin == w->position)
            return true;
    return false;
}

static void begin_table(struct why_work *w)
{
    w->looked = true;
    w->made.title = xstrdup("explanation");
    table_add_columns(&w->made, wait_explanation_columns,
                      sizeof wait_explanation_columns / sizeof *wait_explanation_columns);
    attribution_cells_add_delay(&w->made);
    w->is = wait_explanation_find_wait(w);
    if (w->is)
        wait_explanation_add_totals(w, &w->why->paths.all->waits[w->index], &w->made);
    else
        table_add_note(&w->made, is_open(w) ? "this wait has not ended; see poet blocked"
                                            : "this event neither starts nor ends a wait");
}

#define COST                                                                                       \
    4096u /* cost of a wait interval with all rows that are added below it, in visited intervals */

static bool wait_explanation_step(void *work, uint64_t *budget)
{
    struct why_work *w = work;
    if (!attribution_cells_prepare(&w->causing, budget))
        return false;
    if (!w->looked)
        begin_table(w);
    const struct wait_record *wait = w->is ? &w->why->paths.all->waits[w->index] : NULL;
    for (; wait && w->done < wait->count; w->done++) {
        if (!*budget)
            return false;
        add_segment(w, wait->segment + w->done, 0);
        *budget -= *budget < COST ? *budget : COST;
    }
    return true;
}

static void wait_explanation_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct why_work *w = work;
    if (w->made.row_count >= ROWS)
        table_add_note(&w->made, "waits on further paths omitted");
    table_move(t, &w->made);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct why_work *w = work;
    result_table_free(&w->made);
    attribution_free(&w->charges);
    attribution_cells_free(&w->causing);
    free(w);
}

static const char *const wait_explanation_groupings[] = {"segment", NULL};

const struct table_preset preset_explanation = {.what = "explanation",
                                                .by = wait_explanation_groupings,
                                                .begin = wait_explanation_begin,
                                                .step = wait_explanation_step,
                                                .fill = wait_explanation_fill,
                                                .free = free_work};

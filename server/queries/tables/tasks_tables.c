/* Tables of tasks by their creation: the number of tasks at each, and the tree of creators. */
#include "base/alloc.h"
#include "server/queries/tables/cpu_source.h"
#include "server/queries/tables/table_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t made_at(const struct thread_timeline *c)
{
    return c->made_ns != INTERVALS_NEVER ? c->made_ns : c->start_ns;
}

static int tasks_tables_compare_times(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

static int by_creation(const void *a, const void *b)
{
    const struct thread_timeline *x = *(const struct thread_timeline *const *)a,
                                 *y = *(const struct thread_timeline *const *)b;
    int order = tasks_tables_compare_times(made_at(x), made_at(y));
    return order ? order : tasks_tables_compare_times(x->thread, y->thread);
}

/* Returns all threads with a creation or begin that is recorded before the range ends, in that
 * order; the caller frees it. */
static const struct thread_timeline **tasks_tables_sorted_threads(const struct table_view *view,
                                                                  uint32_t *count)
{
    const struct intervals *all = view->measured;
    const struct thread_timeline **list = xcalloc(all->thread_count, sizeof *list);
    *count = 0;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *c = &all->threads[i];
        if (made_at(c) != INTERVALS_NEVER && made_at(c) < table_until(view, c) &&
            table_lives(view, c->thread))
            list[(*count)++] = c;
    }
    if (*count)
        qsort(list, *count, sizeof *list, by_creation);
    return list;
}

/* ---- numbers of tasks ---- */

enum tasks_column {
    TASK,
    MADE_AT,
    MADE,
    DELETED_COUNT,
    STARTED_COUNT,
    ENDED_COUNT,
    EXECUTING,
    CLOCK
};

static const struct column_definition tasks_tables_columns[] = {
    [TASK] = {"thread", .kind = TABLE_LINE},
    [MADE_AT] = {"created_at_ns", .kind = TABLE_NS},
    [MADE] = {"created", .kind = TABLE_COUNT},
    [DELETED_COUNT] = {"deleted", .kind = TABLE_COUNT},
    [STARTED_COUNT] = {"started", .kind = TABLE_COUNT},
    [ENDED_COUNT] = {"ended", .kind = TABLE_COUNT},
    [EXECUTING] = {"executing", .kind = TABLE_COUNT},
    [CLOCK] = {"clock", "clock (UTC)", .kind = TABLE_TEXT},
};

enum task_moment { STARTED, ENDED, DELETED, MOMENTS };

static int by_time(const void *a, const void *b)
{
    return tasks_tables_compare_times(*(const int64_t *)a, *(const int64_t *)b);
}

/* Returns the time at which a thread started, ended, or was deleted; one that was deleted without
 * an event of its end has ended, too. */
static int64_t moment_of(const struct thread_timeline *c, enum task_moment moment)
{
    int64_t end_ns = c->end_ns != INTERVALS_NEVER ? c->end_ns : c->closed_ns;
    return moment == STARTED ? c->start_ns : moment == ENDED ? end_ns : c->closed_ns;
}

/* Returns the times of one kind of event of all threads, sorted, and how many are unknown, which
 * come first. */
static int64_t *times_of(const struct thread_timeline **list, uint32_t count,
                         enum task_moment moment, uint32_t *never)
{
    int64_t *times = xcalloc(count, sizeof *times);
    *never = 0;
    for (uint32_t i = 0; i < count; i++) {
        times[i] = moment_of(list[i], moment);
        *never += times[i] == INTERVALS_NEVER;
    }
    if (count)
        qsort(times, count, sizeof *times, by_time);
    return times;
}

static void add_counts(struct result_table *t, const struct thread_timeline **list, uint32_t count)
{
    int64_t *times[MOMENTS];
    uint32_t first[MOMENTS], at[MOMENTS];
    for (unsigned m = 0; m < MOMENTS; m++) {
        times[m] = times_of(list, count, (enum task_moment)m, &first[m]);
        at[m] = first[m];
    }
    for (uint32_t i = 0; i < count && i < t->row_count; i++) {
        struct table_cell *cells = result_table_cells(t, i);
        for (unsigned m = 0; m < MOMENTS; m++)
            while (at[m] < count && times[m][at[m]] <= made_at(list[i]))
                at[m]++;
        cells[MADE] = table_cell_number(i + 1);
        cells[DELETED_COUNT] = table_cell_number(at[DELETED] - first[DELETED]);
        cells[STARTED_COUNT] = table_cell_number(at[STARTED] - first[STARTED]);
        cells[ENDED_COUNT] = table_cell_number(at[ENDED] - first[ENDED]);
        cells[EXECUTING] = table_cell_number((int64_t)i + 1 - (at[ENDED] - first[ENDED]));
    }
    for (unsigned m = 0; m < MOMENTS; m++)
        free(times[m]);
}

/* Keeps the rows of the requested threads only; the counts remain those of all threads. */
static void keep_wanted(const struct table_view *view, struct result_table *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (!table_wants(view, result_table_cells(t, i)[TASK].line)) {
            free(t->rows[i].lines);
            continue;
        }
        t->rows[kept] = t->rows[i];
        for (uint32_t k = 0; k < t->column_count; k++)
            result_table_cells(t, kept)[k] = result_table_cells(t, i)[k];
        kept++;
    }
    t->row_count = kept;
}

/* Returns a cell for the wall-clock time, independently of the local time zone. */
static struct table_cell clock_of(const struct run *run, int64_t ns)
{
    uint64_t at = run->clock.wall_ns + (uint64_t)ns;
    time_t seconds = (time_t)(at / 1000000000u);
    struct tm tm;
    char text[40], all[48];
    if (!run->clock.wall_ns || !gmtime_r(&seconds, &tm))
        return (struct table_cell){0};
    strftime(text, sizeof text, "%H:%M:%S", &tm);
    snprintf(all, sizeof all, "%s.%03u", text, (unsigned)(at / 1000000u % 1000u));
    return table_cell_text(all);
}

static void fill_tasks(void *work, const struct table_view *view, struct result_table *t)
{
    uint32_t count;
    const struct thread_timeline **list = tasks_tables_sorted_threads(view, &count);
    (void)work;
    t->title = xstrdup("tasks over time");
    table_add_columns(t, tasks_tables_columns,
                      sizeof tasks_tables_columns / sizeof *tasks_tables_columns);
    for (uint32_t i = 0; i < count; i++) {
        bool made = list[i]->made_ns != INTERVALS_NEVER;
        struct table_cell *cells =
            table_add_row(t, 0, table_event(view, made ? list[i]->made : list[i]->start));
        if (!cells)
            break;
        cells[TASK] = table_cell_line(list[i]->thread);
        if (!table_note_unknown_before(view, list[i]))
            cells[MADE_AT] = table_cell_number(made_at(list[i]));
        if (!table_note_unknown_before(view, list[i]))
            cells[CLOCK] = clock_of(view->run, made_at(list[i]));
        table_row_line(t, list[i]->thread);
    }
    add_counts(t, list, count);
    keep_wanted(view, t);
    table_add_note(t, "created, deleted, started and ended count the tasks up to then; executing "
                      "is created less ended");
    free(list);
    table_arrange(t, view->request, NULL);
}

static const char *const tasks_tables_groupings[] = {"thread", NULL};

const struct table_preset preset_tasks = {
    .what = "tasks", .by = tasks_tables_groupings, .fill = fill_tasks};

/* ---- creators ---- */

enum created_column {
    CHILD,
    CREATED_AT,
    STARTED_AT,
    ENDED_AT,
    DELETED_AT,
    LIFETIME,
    STATE,
    LOCATION,
    OBJECT
};

static const struct column_definition tasks_tables_created_columns[] = {
    [CHILD] = {"thread", .kind = TABLE_LINE},
    [CREATED_AT] = {"created_at_ns", .kind = TABLE_NS},
    [STARTED_AT] = {"started_at_ns", .kind = TABLE_NS},
    [ENDED_AT] = {"ended_at_ns", .kind = TABLE_NS},
    [DELETED_AT] = {"deleted_at_ns", .kind = TABLE_NS},
    [LIFETIME] = {"lifetime_ns", .kind = TABLE_NS},
    [STATE] = {"state", .kind = TABLE_TEXT},
    [LOCATION] = {"location", .kind = TABLE_PLACE},
    [OBJECT] = {"object", "blocked on", .kind = TABLE_LINE},
};

struct task_family {
    const struct thread_timeline **list; /* in the order of creation */
    uint32_t count;
    /* By index: 1 + index of the first child; 1 + index of the creator's next child. */
    uint32_t *first, *next;
    struct map at; /* line -> 1 + index */
};

static uint32_t index_of(const struct task_family *f, uint32_t line)
{
    return (uint32_t)(uintptr_t)map_get(&f->at, line, 0);
}

/* Links threads to their creators; from the last one on, so that children are sorted by
 * creation. */
static struct task_family family_of(const struct table_view *view)
{
    struct task_family f = {.count = 0};
    f.list = tasks_tables_sorted_threads(view, &f.count);
    f.first = xcalloc(f.count, sizeof *f.first);
    f.next = xcalloc(f.count, sizeof *f.next);
    for (uint32_t i = 0; i < f.count; i++)
        map_put(&f.at, f.list[i]->thread, 0, (void *)(uintptr_t)(i + 1));
    for (uint32_t i = f.count; i-- > 0;) {
        uint32_t maker = f.list[i]->maker ? index_of(&f, f.list[i]->maker) : 0;
        if (!maker || maker - 1 >= i) /* its creator is unknown, or was created later */
            continue;
        f.next[i] = f.first[maker - 1];
        f.first[maker - 1] = i + 1;
    }
    return f;
}

static bool is_root(const struct task_family *f, uint32_t i)
{
    uint32_t maker = f->list[i]->maker ? index_of(f, f->list[i]->maker) : 0;
    return !maker || maker - 1 >= i;
}

/* Returns whether a time of a thread is known, and within the range. */
static bool is_reached(const struct table_view *view, const struct thread_timeline *c, int64_t ns)
{
    return ns != INTERVALS_NEVER && ns < table_until(view, c);
}

static struct table_cell tasks_tables_time_cell(const struct table_view *view,
                                                const struct thread_timeline *c, int64_t ns)
{
    return is_reached(view, c, ns) ? table_cell_number(ns) : (struct table_cell){0};
}

static void tasks_tables_keep_interval(void *context, const struct thread_state_interval *spell)
{
    *(struct thread_state_interval *)context = *spell;
}

/* Returns the state of a thread, which has started and not exited, at the end of the range, or
 * after the last that is known of it. */
static struct thread_state_interval state_at_end(const struct table_view *view,
                                                 const struct thread_timeline *c)
{
    int64_t begin, end, since, until = table_until(view, c),
                               last_ns = c->count ? c->items[c->count - 1].to_ns : c->start_ns;
    uint64_t call;
    struct thread_state_interval now = {.state = THREAD_STATE_RUNNING,
                                        .position =
                                            c->count ? c->items[c->count - 1].position : c->start};
    thread_states_lifetime(&view->lives, c, &begin, &end);
    end = end < until ? end : until;
    if (end != last_ns || end == until)
        thread_states_visit(&view->lives, c, end - 1, end, tasks_tables_keep_interval, &now);
    if (until == INT64_MAX && now.state != THREAD_STATE_BLOCKED && cpu_source_known(view, c) &&
        cpu_states_asleep(view->lives.spans, c->thread, view->run->clock.ended_ns, &since, &call))
        now.state = THREAD_STATE_OFF_CPU;
    return now;
}

/* Sets the state of a thread at the end of the range, and where it began; none after its join. */
static void set_state(const struct table_view *view, struct table_cell *cells,
                      const struct thread_timeline *c)
{
    if (is_reached(view, c, c->closed_ns))
        return;
    struct thread_state_interval now = {.state = THREAD_STATE_CREATED, .position = NO_POSITION};
    if (is_reached(view, c, c->end_ns))
        now = (struct thread_state_interval){.state = THREAD_STATE_EXITED, .position = c->end};
    else if (is_reached(view, c, c->start_ns))
        now = state_at_end(view, c);
    cells[STATE] = table_cell_text(thread_state_name(now.state));
    cells[LOCATION] = now.place ? table_cell_place(table_place(view, now.place))
                                : table_site_cell(view, c->thread, now.position);
    cells[OBJECT] = table_cell_line(now.about);
}

static void add_task(const struct table_view *view, struct result_table *t,
                     const struct thread_timeline *c, uint32_t depth)
{
    struct table_cell *cells =
        table_add_row(t, depth < 255 ? (uint8_t)depth : 255, table_event(view, c->made));
    int64_t from, to, until = table_until(view, c);
    if (!cells)
        return;
    cells[CHILD] = table_cell_line(c->thread);
    cells[CREATED_AT] = tasks_tables_time_cell(view, c, c->made_ns);
    if (!table_note_unknown_before(view, c))
        cells[STARTED_AT] = tasks_tables_time_cell(view, c, c->start_ns);
    cells[ENDED_AT] = tasks_tables_time_cell(view, c, c->end_ns);
    cells[DELETED_AT] = tasks_tables_time_cell(view, c, c->closed_ns);
    if (thread_states_lifetime(&view->lives, c, &from, &to))
        cells[LIFETIME] = table_cell_number((to < until ? to : until) - from);
    set_state(view, cells, c);
    table_row_line(t, c->thread);
    table_row_line(t, c->maker);
}

struct task_visit {
    uint32_t task, depth;
};

/* Adds a thread, then all threads that it created, recursively. */
static void add_family(const struct table_view *view, struct result_table *t,
                       const struct task_family *f, uint32_t root)
{
    struct task_visit *stack = NULL;
    size_t room = 0, count = 0;
    stack = array_reserve(stack, &room, 1, sizeof *stack);
    stack[count++] = (struct task_visit){root, 0};
    while (count) {
        struct task_visit v = stack[--count];
        bool wanted = table_wants(view, f->list[v.task]->thread);
        if (wanted)
            add_task(view, t, f->list[v.task], v.depth);
        stack = array_reserve(stack, &room, count + 2, sizeof *stack);
        if (f->next[v.task] && v.task != root)
            stack[count++] = (struct task_visit){f->next[v.task] - 1, v.depth};
        if (f->first[v.task])
            stack[count++] = (struct task_visit){f->first[v.task] - 1, v.depth + wanted};
    }
    free(stack);
}

/* Adds how many tasks there were at the end of the range, and the source of their states. */
static void add_notes(const struct table_view *view, const struct task_family *f,
                      struct result_table *t)
{
    uint32_t counts[MOMENTS] = {0};
    struct cpu_source_counts sources = {0};
    uint32_t running = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct thread_timeline *c = f->list[i];
        for (unsigned m = 0; m < MOMENTS; m++)
            counts[m] += is_reached(view, c, moment_of(c, (enum task_moment)m));
        if (is_reached(view, c, c->start_ns) && !is_reached(view, c, moment_of(c, ENDED))) {
            cpu_source_row(&sources, view, c);
            running++;
        }
    }
    table_add_note(t,
                   "%u created, %u started, %u ended, %u deleted; %u executing (created less "
                   "ended)",
                   f->count, counts[STARTED], counts[ENDED], counts[DELETED],
                   f->count - counts[ENDED]);
    if (running)
        cpu_source_note(t, view, &sources);
}

static void fill_created(void *work, const struct table_view *view, struct result_table *t)
{
    struct task_family f = family_of(view);
    (void)work;
    t->title = xstrdup("task creation tree");
    table_add_columns(t, tasks_tables_created_columns,
                      sizeof tasks_tables_created_columns / sizeof *tasks_tables_created_columns);
    for (uint32_t i = 0; i < f.count; i++)
        if (is_root(&f, i))
            add_family(view, t, &f, i);
    add_notes(view, &f, t);
    free(f.list);
    free(f.first);
    free(f.next);
    map_free(&f.at);
    table_arrange(t, view->request, NULL);
}

const struct table_preset preset_created = {
    .what = "created", .by = tasks_tables_groupings, .fill = fill_created};

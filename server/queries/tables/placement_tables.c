#include "server/queries/tables/placement_tables.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/queries/tables/lifetime_sweep.h"
#include "wire/thread_state_names.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE 0u /* unknown place */

static const struct placement_carrier *carrier_at(const struct placement_names *p, uint32_t on)
{
    return placements_carrier_at(cpu_states_tasks(p->spans), on);
}

static char *placement_names_none(void)
{
    return xstrdup(
        "no task placement data: the runtime must call poet_task_switch() of poet.h; use --by cpu "
        "for CPUs");
}

static char *no_cpus(const struct placement_names *p)
{
    const char *why = cpu_states_missing_reason(p->spans);
    return xasprintf("the CPU on which a thread ran was not recorded: %s%s",
                     why ? "context-switch tracing (perf_event_open) is not available: "
                         : "this run has no context-switch records with CPUs",
                     why ? why : "");
}

static void find_clusters(struct placement_names *p)
{
    uint32_t count = placements_carriers(cpu_states_tasks(p->spans));
    p->clusters = xcalloc(count + 1, sizeof *p->clusters);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 0;
        while (first < i &&
               strcmp(carrier_at(p, first + 1)->cluster, carrier_at(p, i + 1)->cluster) != 0)
            first++;
        p->clusters[i] = first + 1;
    }
}

bool placement_names_begin(struct placement_names *p, const struct table_view *view,
                           struct error *error)
{
    const char *by = view->request->by;
    char *why = NULL;
    *p = (struct placement_names){.spans = view->lives.spans,
                                  .run = view->run,
                                  .by = strcmp(by, "cluster") == 0 ? PLACEMENT_BY_CLUSTER
                                        : strcmp(by, "cpu") == 0   ? PLACEMENT_BY_CPU
                                                                   : PLACEMENT_BY_WORKER};
    if (p->by == PLACEMENT_BY_CPU)
        why = cpu_states_cpus(p->spans) ? NULL : no_cpus(p);
    else if (!placements_carriers(cpu_states_tasks(p->spans)))
        why = placement_names_none();
    else
        find_clusters(p);
    if (why)
        error_set(error, "%s", why);
    free(why);
    return !why;
}

void placement_names_free(struct placement_names *p) { free(p->clusters); }

uint32_t placement_names_place(const struct placement_names *p, uint32_t thread, uint32_t on)
{
    if (cpu_states_is_placed_task(p->spans, thread) == (p->by == PLACEMENT_BY_CPU))
        return NOWHERE;
    return on && p->by == PLACEMENT_BY_CLUSTER ? p->clusters[on - 1] : on;
}

static bool placement_names_is_known(const struct placement_names *p, uint32_t place)
{
    (void)p;
    return place != NOWHERE;
}

/* Returns the runtime's name of a worker thread, else its number in the run. */
static char *carrier_name(const struct placement_carrier *carrier, uint32_t on)
{
    return *carrier->name ? xstrdup(carrier->name) : xasprintf("worker %u", on);
}

char *placement_names_name(const struct placement_names *p, uint32_t place)
{
    if (place == NOWHERE)
        return xstrdup("unknown");
    if (p->by == PLACEMENT_BY_CPU)
        return xasprintf("cpu %u", place - 1);
    const struct placement_carrier *carrier = carrier_at(p, place);
    if (p->by == PLACEMENT_BY_CLUSTER)
        return xstrdup(*carrier->cluster ? carrier->cluster : "no cluster");
    return carrier_name(carrier, place);
}

/* Returns the cluster of a place, "" if it has none. */
static const char *placement_names_cluster(const struct placement_names *p, uint32_t place)
{
    const struct placement_carrier *carrier =
        p->by == PLACEMENT_BY_CPU || place == NOWHERE ? NULL : carrier_at(p, place);
    return carrier ? carrier->cluster : "";
}

const char *placement_names_kind(const struct placement_names *p)
{
    return p->by == PLACEMENT_BY_CPU       ? "cpu"
           : p->by == PLACEMENT_BY_CLUSTER ? "cluster"
                                           : "processor";
}

/* Returns whether clusters exist and are not part of the names. */
static bool placement_names_has_clusters(const struct placement_names *p)
{
    uint32_t count =
        p->by == PLACEMENT_BY_WORKER ? placements_carriers(cpu_states_tasks(p->spans)) : 0;
    for (uint32_t i = 1; i <= count; i++)
        if (*carrier_at(p, i)->cluster)
            return true;
    return false;
}

void placement_names_note(const struct placement_names *p, struct result_table *t)
{
    uint64_t lost = p->by == PLACEMENT_BY_CPU ? cpu_states_lost_count(p->spans)
                                              : placements_lost(cpu_states_tasks(p->spans));
    uint64_t kept = p->by == PLACEMENT_BY_CPU ? cpu_states_max_switches(p->spans)
                                              : placements_limit(cpu_states_tasks(p->spans));
    if (p->by == PLACEMENT_BY_CPU)
        table_add_note(
            t, "\"cpu\" = CPU of the machine (from context-switch records); CPUs of runtime "
               "tasks are unknown");
    else
        table_add_note(
            t,
            "worker = system thread that runs tasks (carrier); a task counts as running while it "
            "is on one, whether or not the worker had a CPU");
    if (lost)
        table_add_note(t, "%llu switches lost; the placement of threads in those gaps is unknown",
                       (unsigned long long)lost);
    if (kept)
        table_add_note(t,
                       "a server keeps the first %llu switches of a run; later ones were discarded",
                       (unsigned long long)kept);
}

char *placement_names_text(const struct cpu_states *spans, uint32_t thread, uint32_t on)
{
    const struct placement_carrier *carrier = placements_carrier_at(cpu_states_tasks(spans), on);
    if (!on || (cpu_states_is_placed_task(spans, thread) && !carrier))
        return NULL;
    if (!cpu_states_is_placed_task(spans, thread))
        return xasprintf("cpu %u", on - 1);
    char *name = carrier_name(carrier, on);
    if (!*carrier->cluster)
        return name;
    char *text = xasprintf("%s of cluster %s", name, carrier->cluster);
    free(name);
    return text;
}

/* ---- table of placements ----
 *
 * Which task of a runtime was on which worker thread, from when to when, and on which one before; a
 * change is a migration. */

enum placement_column {
    PLACEMENT_TABLE_ON,
    PLACEMENT_TABLE_CLUSTER,
    PLACEMENT_TABLE_TASK,
    PLACEMENT_TABLE_FROM,
    PLACEMENT_TABLE_TOOK,
    PLACEMENT_TABLE_CAME,
    PLACEMENT_TABLE_COLUMNS
};

static const struct column_definition placement_table_columns[PLACEMENT_TABLE_COLUMNS] = {
    [PLACEMENT_TABLE_ON] = {"worker", "worker thread", .kind = TABLE_TEXT, .source = "placement"},
    [PLACEMENT_TABLE_CLUSTER] = {"cluster", .kind = TABLE_TEXT, .source = "placement"},
    [PLACEMENT_TABLE_TASK] = {"thread", .kind = TABLE_LINE, .source = "placement"},
    [PLACEMENT_TABLE_FROM] = {"from_ns", .kind = TABLE_NS, .source = "placement"},
    [PLACEMENT_TABLE_TOOK] = {"duration_ns", .kind = TABLE_NS, .source = "placement"},
    [PLACEMENT_TABLE_CAME] = {"migrated_from", .kind = TABLE_TEXT, .source = "placement"},
};

struct placement_row {
    struct placement_interval is; /* clipped to the range */
    uint32_t task, before; /* before: the previous worker thread, 0: none */
};

struct placement_work {
    struct placement_names places;
    uint32_t next; /* index of the next thread */
    const struct table_view *view;
    struct placement_row *rows;
    size_t count;
};

static void *placement_table_begin(const struct table_view *view, struct error *error)
{
    struct placement_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    if (placement_names_begin(&w->places, view, error))
        return w;
    placement_names_free(&w->places);
    free(w);
    return NULL;
}

/* Adds the placements of a task in the range.  One that has not ended lasts to the end of the
 * thread's lifetime. */
static void add_task(struct placement_work *w, const struct thread_timeline *course)
{
    size_t count;
    int64_t from_ns = w->view->from_ns, until_ns = table_until(w->view, course), begin_ns, end_ns;
    const struct placement_interval *items =
        placements_for_task(cpu_states_tasks(w->view->lives.spans), course->thread, &count);
    if (!thread_states_lifetime(&w->view->lives, course, &begin_ns, &end_ns))
        return;
    for (size_t i = 0; i < count; i++) {
        struct placement_row row = {
            .is = items[i], .task = course->thread, .before = i ? items[i - 1].on : 0};
        if (row.is.to_ns == PLACEMENT_OPEN)
            row.is.to_ns = end_ns > row.is.from_ns ? end_ns : row.is.from_ns;
        if (row.is.from_ns >= until_ns || row.is.to_ns <= from_ns)
            continue;
        if (row.is.from_ns < from_ns)
            row.is.from_ns = from_ns;
        if (row.is.to_ns > until_ns)
            row.is.to_ns = until_ns;
        ARRAY_PUSH(w->rows, w->count, row);
    }
}

static bool placement_table_step(void *work, uint64_t *budget)
{
    struct placement_work *w = work;
    for (; w->next < w->view->measured->thread_count; w->next++) {
        const struct thread_timeline *course = &w->view->measured->threads[w->next];
        size_t had = w->count;
        if (!*budget)
            return false;
        if (table_wants(w->view, course->thread) && table_until(w->view, course) > w->view->from_ns)
            add_task(w, course);
        uint64_t cost = w->count - had + 1;
        *budget -= cost < *budget ? cost : *budget;
    }
    return true;
}

static int by_processor(const void *a, const void *b)
{
    const struct placement_row *x = a, *y = b;
    if (x->is.on != y->is.on)
        return x->is.on < y->is.on ? -1 : 1;
    if (x->is.from_ns != y->is.from_ns)
        return x->is.from_ns < y->is.from_ns ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static bool add_row(struct placement_work *w, struct result_table *t,
                    const struct placement_row *row)
{
    struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
    if (!cells)
        return false;
    char *name = placement_names_name(&w->places, row->is.on);
    cells[PLACEMENT_TABLE_ON] = table_cell_text(name);
    free(name);
    if (*placement_names_cluster(&w->places, row->is.on))
        cells[PLACEMENT_TABLE_CLUSTER] =
            table_cell_text(placement_names_cluster(&w->places, row->is.on));
    cells[PLACEMENT_TABLE_TASK] = table_cell_line(row->task);
    cells[PLACEMENT_TABLE_FROM] = table_cell_number(row->is.from_ns);
    cells[PLACEMENT_TABLE_TOOK] = table_cell_number(row->is.to_ns - row->is.from_ns);
    if (row->before && row->before != row->is.on) {
        char *before = placement_names_name(&w->places, row->before);
        cells[PLACEMENT_TABLE_CAME] = table_cell_text(before);
        free(before);
    }
    table_row_line(t, row->task);
    return true;
}

static void placement_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct placement_work *w = work;
    int64_t all_ns = 0;
    size_t shown = 0;
    t->title = xstrdup("task placement");
    table_add_columns(t, placement_table_columns, PLACEMENT_TABLE_COLUMNS);
    t->columns[PLACEMENT_TABLE_CLUSTER].detail = !placement_names_has_clusters(&w->places);
    if (w->count)
        qsort(w->rows, w->count, sizeof *w->rows, by_processor);
    for (size_t i = 0; i < w->count; i++)
        all_ns += w->rows[i].is.to_ns - w->rows[i].is.from_ns;
    while (shown < w->count && add_row(w, t, &w->rows[shown]))
        shown++;
    table_make_total(t)[PLACEMENT_TABLE_TOOK] = table_cell_number(all_ns);
    if (shown < w->count)
        table_add_note(t, "%zu more rows omitted; narrow the selection (--threads, --from, --to)",
                       w->count - shown);
    placement_names_note(&w->places, t);
    table_arrange(t, view->request, NULL);
}

static void placement_table_free(void *work)
{
    struct placement_work *w = work;
    placement_names_free(&w->places);
    free(w->rows);
    free(w);
}

static const char *const placement_table_groupings[] = {"worker", NULL};

const struct table_preset preset_placement = {.what = "placement",
                                              .by = placement_table_groupings,
                                              .begin = placement_table_begin,
                                              .step = placement_table_step,
                                              .fill = placement_table_fill,
                                              .free = placement_table_free};

/* ---- table of CPUs ----
 *
 * Which threads ran where, for how long, and how often they migrated there: tasks of a runtime on
 * their worker threads or in their clusters, threads on the CPUs of the machine. */

enum cpu_table_column {
    CPU_TABLE_ON,
    CPU_TABLE_THREAD,
    CPU_TABLE_CLUSTER,
    CPU_TABLE_RUNNING,
    CPU_TABLE_TIMES,
    CPU_TABLE_CAME,
    CPU_TABLE_THREADS
};

struct cpu_table_part { /* one thread in one place */
    uint32_t place, thread;
    int64_t running_ns;
    uint64_t times, came;
};

struct cpu_table_work {
    const struct table_view *view;
    struct lifetimes lives; /* those of the view, with the best source of each thread */
    struct lifetime_sweep sweep;
    struct placement_names places;
    struct cpu_table_part *parts;
    size_t count, room;
    struct map index; /* place, thread -> 1 + index */
    uint32_t thread, last; /* current thread line; 1 + the place where it ran last, 0: none */
};

static void *cpu_table_begin(const struct table_view *view, struct error *error)
{
    struct cpu_table_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->lives = view->lives;
    w->lives.source = CPU_SOURCE_SWITCHES;
    if (placement_names_begin(&w->places, view, error))
        return w;
    placement_names_free(&w->places);
    free(w);
    return NULL;
}

static struct cpu_table_part *part_of(struct cpu_table_work *w, uint32_t place)
{
    uintptr_t at = (uintptr_t)map_get(&w->index, place, w->thread);
    if (at)
        return &w->parts[at - 1];
    w->parts = array_reserve(w->parts, &w->room, w->count + 1, sizeof *w->parts);
    w->parts[w->count] = (struct cpu_table_part){.place = place, .thread = w->thread};
    map_put(&w->index, place, w->thread, (void *)(uintptr_t)++w->count);
    return &w->parts[w->count - 1];
}

static void cpu_table_add_interval(void *context, const struct thread_state_interval *spell)
{
    struct cpu_table_work *w = context;
    if (spell->state != THREAD_STATE_RUNNING)
        return;
    uint32_t place = placement_names_place(&w->places, w->thread, spell->on);
    struct cpu_table_part *part = part_of(w, place);
    part->running_ns += spell->to_ns - spell->from_ns;
    part->times++;
    if (!placement_names_is_known(&w->places, place))
        return;
    part->came += w->last && w->last != 1 + place;
    w->last = 1 + place;
}

static bool cpu_table_step(void *work, uint64_t *budget)
{
    struct cpu_table_work *w = work;
    struct lifetime_piece piece;
    enum lifetime_sweep_result is;
    while ((is = lifetime_sweep_next(&w->sweep, w->view, budget, &piece)) == LIFETIME_SWEEP_PIECE) {
        if (!table_lives(w->view, piece.course->thread))
            continue;
        w->thread = piece.course->thread;
        w->last = piece.first ? 0 : w->last;
        thread_states_visit(&w->lives, piece.course, piece.from_ns, piece.to_ns,
                            cpu_table_add_interval, w);
    }
    return is == LIFETIME_SWEEP_DONE;
}

/* ---- rows ---- */

static void add_columns(struct result_table *t, const struct placement_names *places)
{
    static const char source[] = "placement";
    const struct thread_state_words *running = &thread_state_words[THREAD_STATE_RUNNING];
    const struct column_definition columns[] = {
        [CPU_TABLE_ON] = {"processor", placement_names_kind(places), .kind = TABLE_TEXT,
                          .source = source},
        [CPU_TABLE_THREAD] = {"thread", .kind = TABLE_LINE},
        [CPU_TABLE_CLUSTER] = {"cluster", .kind = TABLE_TEXT, .source = source,
                               .detail = !placement_names_has_clusters(places)},
        [CPU_TABLE_RUNNING] = {running->column, running->name, .kind = TABLE_NS, .source = source},
        [CPU_TABLE_TIMES] = {"intervals", .kind = TABLE_COUNT, .source = source},
        [CPU_TABLE_CAME] = {"migrations", .kind = TABLE_COUNT, .source = source},
        [CPU_TABLE_THREADS] = {"threads", .kind = TABLE_COUNT, .source = source},
    };
    table_add_columns(t, columns, sizeof columns / sizeof *columns);
}

static void cpu_table_set_cells(struct table_cell *cells, const struct cpu_table_part *sums)
{
    cells[CPU_TABLE_RUNNING] = table_cell_number(sums->running_ns);
    cells[CPU_TABLE_TIMES] = table_cell_number((int64_t)sums->times);
    cells[CPU_TABLE_CAME] = table_cell_number((int64_t)sums->came);
}

static void sum_up(struct cpu_table_part *to, const struct cpu_table_part *part)
{
    to->running_ns += part->running_ns;
    to->times += part->times;
    to->came += part->came;
}

static void set_place(struct table_cell *cells, const struct placement_names *places,
                      uint32_t place)
{
    char *name = placement_names_name(places, place);
    cells[CPU_TABLE_ON] = table_cell_text(name);
    if (*placement_names_cluster(places, place))
        cells[CPU_TABLE_CLUSTER] = table_cell_text(placement_names_cluster(places, place));
    free(name);
}

static int by_place(const void *a, const void *b)
{
    const struct cpu_table_part *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Adds the threads of one place, the first of them at `parts`; returns their number. */
static size_t add_place(struct cpu_table_work *w, const struct cpu_table_part *parts, size_t left,
                        struct result_table *t)
{
    struct cpu_table_part all = {.place = parts->place};
    size_t count = 0;
    while (count < left && parts[count].place == all.place)
        sum_up(&all, &parts[count++]);
    struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
    if (cells) {
        set_place(cells, &w->places, all.place);
        cpu_table_set_cells(cells, &all);
        cells[CPU_TABLE_THREADS] = table_cell_number((int64_t)count);
    }
    for (size_t i = 0; i < count && (cells = table_add_row(t, 1, (struct event_id){0})) != NULL;
         i++) {
        set_place(cells, &w->places, all.place);
        cells[CPU_TABLE_THREAD] = table_cell_line(parts[i].thread);
        cpu_table_set_cells(cells, &parts[i]);
        table_row_line(t, parts[i].thread);
    }
    return count;
}

static void cpu_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct cpu_table_work *w = work;
    struct cpu_table_part all = {0};
    t->title = xasprintf("placement by %s", placement_names_kind(&w->places));
    add_columns(t, &w->places);
    if (w->count)
        qsort(w->parts, w->count, sizeof *w->parts, by_place);
    for (size_t i = 0; i < w->count;)
        i += add_place(w, &w->parts[i], w->count - i, t);
    for (size_t i = 0; i < w->count; i++)
        sum_up(&all, &w->parts[i]);
    cpu_table_set_cells(table_make_total(t), &all);
    placement_names_note(&w->places, t);
    table_arrange(t, view->request, NULL);
}

static void cpu_table_free(void *work)
{
    struct cpu_table_work *w = work;
    placement_names_free(&w->places);
    map_free(&w->index);
    free(w->parts);
    free(w);
}

static const char *const cpu_table_groupings[] = {"processor", "cluster", "cpu", NULL};

const struct table_preset preset_processors = {.what = "processors",
                                               .by = cpu_table_groupings,
                                               .begin = cpu_table_begin,
                                               .step = cpu_table_step,
                                               .fill = cpu_table_fill,
                                               .free = cpu_table_free};

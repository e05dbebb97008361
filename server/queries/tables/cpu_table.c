/* Table of CPUs: which threads ran where, for how long, and how often they migrated there: tasks of
 * a runtime on their worker threads or in their clusters, threads on the CPUs of the machine. */
#include "base/map.h"
#include "base/alloc.h"
#include "server/queries/tables/placement_names.h"
#include "server/queries/tables/lifetime_sweep.h"

#include <stdlib.h>

enum cpu_table_column { ON, THREAD, CLUSTER, RUNNING, TIMES, CAME, THREADS, COLUMNS };

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

static void *cpu_table_begin(const struct table_view *view, char **problem)
{
    struct cpu_table_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->lives = view->lives;
    w->lives.source = CPU_SOURCE_SWITCHES;
    *problem = placement_names_begin(&w->places, view);
    if (!*problem)
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
    const struct column_definition columns[] = {
        [ON] = {"processor", placement_names_kind(places), .kind = TABLE_TEXT, .source = source},
        [THREAD] = {"thread", "thread", .kind = TABLE_LINE},
        [CLUSTER] = {"cluster", "cluster", .kind = TABLE_TEXT, .source = source,
                     .detail = !placement_names_has_clusters(places)},
        [RUNNING] = {"running_ns", "running", .kind = TABLE_NS, .source = source},
        [TIMES] = {"intervals", "intervals", .kind = TABLE_COUNT, .source = source},
        [CAME] = {"migrations", "migrations", .kind = TABLE_COUNT, .source = source},
        [THREADS] = {"threads", "threads", .kind = TABLE_COUNT, .source = source},
    };
    table_add_columns(t, columns, sizeof columns / sizeof *columns);
}

static void cpu_table_set_cells(struct table_cell *cells, const struct cpu_table_part *sums)
{
    cells[RUNNING] = table_cell_number(sums->running_ns);
    cells[TIMES] = table_cell_number((int64_t)sums->times);
    cells[CAME] = table_cell_number((int64_t)sums->came);
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
    cells[ON] = table_cell_text(name);
    if (*placement_names_cluster(places, place))
        cells[CLUSTER] = table_cell_text(placement_names_cluster(places, place));
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
        cells[THREADS] = table_cell_number((int64_t)count);
    }
    for (size_t i = 0; i < count && (cells = table_add_row(t, 1, (struct event_id){0})) != NULL;
         i++) {
        set_place(cells, &w->places, all.place);
        cells[THREAD] = table_cell_line(parts[i].thread);
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

static void free_work(void *work)
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
                                               .free = free_work};

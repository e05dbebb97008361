/* The table of processors: which threads ran where, for how long, and how often they came there from elsewhere: tasks of
 * a runtime on the threads of the system that run them, or in their clusters; threads on the processors of the machine. */
#include "memory/map.h"
#include "memory/memory.h"
#include "server/answer/table/ran.h"
#include "server/answer/table/sweep.h"

#include <stdlib.h>

enum column { ON, THREAD, CLUSTER, RUNNING, TIMES, CAME, THREADS, COLUMNS };

struct part { /* of a thread, in one place */
    uint32_t place, thread;
    int64_t running_ns;
    uint64_t times, came;
};

struct work {
    const struct table_view *view;
    struct lives lives; /* the view's, by the best source that each thread has */
    struct sweep sweep;
    struct ran_places places;
    struct part *parts;
    size_t count, room;
    struct map index; /* place, thread -> 1 + index */
    uint32_t thread, last; /* the one that is looked at; 1 + where it ran last that is known */
};

static void *begin(const struct table_view *view, char **problem)
{
    struct work *w = memory_zeroed(1, sizeof *w);
    w->view = view;
    w->lives = view->lives;
    w->lives.source = SPANS_SWITCHES;
    *problem = ran_begin(&w->places, view);
    if (!*problem)
        return w;
    ran_free(&w->places);
    free(w);
    return NULL;
}

static struct part *part_of(struct work *w, uint32_t place)
{
    uintptr_t at = (uintptr_t)map_get(&w->index, place, w->thread);
    if (at)
        return &w->parts[at - 1];
    w->parts = grow(w->parts, &w->room, w->count + 1, sizeof *w->parts);
    w->parts[w->count] = (struct part){.place = place, .thread = w->thread};
    map_put(&w->index, place, w->thread, (void *)(uintptr_t)++w->count);
    return &w->parts[w->count - 1];
}

static void add(void *context, const struct spell *spell)
{
    struct work *w = context;
    if (spell->state != STATE_RUNNING)
        return;
    uint32_t place = ran_place(&w->places, w->thread, spell->on);
    struct part *part = part_of(w, place);
    part->running_ns += spell->to_ns - spell->from_ns;
    part->times++;
    if (!ran_is_known(&w->places, place))
        return;
    part->came += w->last && w->last != 1 + place;
    w->last = 1 + place;
}

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    struct sweep_piece piece;
    enum sweep_is is;
    while ((is = sweep_next(&w->sweep, w->view, budget, &piece)) == SWEEP_PIECE) {
        if (!table_lives(w->view, piece.course->thread))
            continue;
        w->thread = piece.course->thread;
        w->last = piece.first ? 0 : w->last;
        states_visit(&w->lives, piece.course, piece.from_ns, piece.to_ns, add, w);
    }
    return is == SWEEP_DONE;
}

/* ---- telling ---- */

static void add_columns(struct shown_table *t, const struct ran_places *places)
{
    table_add_column(t, "processor", ran_word(places), TABLE_TEXT, "stays");
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "cluster", "cluster", TABLE_TEXT, "stays");
    if (!ran_has_clusters(places))
        table_detail(t);
    table_add_column(t, "running_ns", "running", TABLE_NS, "stays");
    table_add_column(t, "times_n", "times", TABLE_COUNT, "stays");
    table_add_column(t, "came_n", "came from elsewhere", TABLE_COUNT, "stays");
    table_add_column(t, "threads_n", "threads", TABLE_COUNT, "stays");
}

static void set(struct table_cell *cells, const struct part *sums)
{
    cells[RUNNING] = cell_number(sums->running_ns);
    cells[TIMES] = cell_number((int64_t)sums->times);
    cells[CAME] = cell_number((int64_t)sums->came);
}

static void sum_up(struct part *to, const struct part *part)
{
    to->running_ns += part->running_ns;
    to->times += part->times;
    to->came += part->came;
}

static void set_place(struct table_cell *cells, const struct ran_places *places, uint32_t place)
{
    char *name = ran_name(places, place);
    cells[ON] = cell_text(name);
    if (*ran_cluster(places, place))
        cells[CLUSTER] = cell_text(ran_cluster(places, place));
    free(name);
}

static int by_place(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The threads of one place, the first of them at `parts`; how many. */
static size_t add_place(struct work *w, const struct part *parts, size_t left,
                        struct shown_table *t)
{
    struct part all = {.place = parts->place};
    size_t count = 0;
    while (count < left && parts[count].place == all.place)
        sum_up(&all, &parts[count++]);
    struct table_cell *cells = table_add_row(t, 0, (struct ref){0});
    if (cells) {
        set_place(cells, &w->places, all.place);
        set(cells, &all);
        cells[THREADS] = cell_number((int64_t)count);
    }
    for (size_t i = 0; i < count && (cells = table_add_row(t, 1, (struct ref){0})) != NULL; i++) {
        set_place(cells, &w->places, all.place);
        cells[THREAD] = cell_line(parts[i].thread);
        set(cells, &parts[i]);
        table_row_line(t, parts[i].thread);
    }
    return count;
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    struct part all = {0};
    t->title = memory_printed("where threads ran, by %s", ran_word(&w->places));
    add_columns(t, &w->places);
    if (w->count)
        qsort(w->parts, w->count, sizeof *w->parts, by_place);
    for (size_t i = 0; i < w->count;)
        i += add_place(w, &w->parts[i], w->count - i, t);
    for (size_t i = 0; i < w->count; i++)
        sum_up(&all, &w->parts[i]);
    set(table_make_total(t), &all);
    ran_note(&w->places, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct work *w = work;
    ran_free(&w->places);
    map_free(&w->index);
    free(w->parts);
    free(w);
}

static const char *const by[] = {"processor", "cluster", "cpu", NULL};

const struct preset preset_processors = {
    .what = "processors", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};

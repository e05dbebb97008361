#include "server/answer/table_steps.h"

#include "memory/memory.h"

#include <stdlib.h>

const char *path_word(enum path_is is)
{
    static const char *const words[] = {[PATH_RUNS] = "runs",
                                        [PATH_LATENCY] = "goes on late",
                                        [PATH_TIMER] = "waits for a time",
                                        [PATH_STARTS] = "starts",
                                        [PATH_UNEXPLAINED] = "unexplained"};
    return words[is];
}

/* The part of an interval that lies in the range. */
static int64_t within(int64_t from, int64_t to, int64_t least, int64_t most)
{
    from = from > least ? from : least;
    to = to < most ? to : most;
    return to > from ? to - from : 0;
}

/* Steps have a row each; what has none has one for what it is. */
static struct step_sum *sum_of(struct step_sums *sums, uint32_t step, uint8_t is)
{
    if (step && sums->index[step - 1])
        return &sums->items[sums->index[step - 1] - 1];
    for (uint32_t i = 0; !step && i < sums->count; i++)
        if (!sums->items[i].step && sums->items[i].is == is)
            return &sums->items[i];
    sums->items = grow(sums->items, &sums->room, sums->count + 1, sizeof *sums->items);
    sums->items[sums->count++] =
        (struct step_sum){.step = step, .is = is, .longest = UINT64_MAX, .slack_ns = INT64_MAX};
    if (step)
        sums->index[step - 1] = sums->count;
    return &sums->items[sums->count - 1];
}

static void add_piece(struct step_sums *sums, const struct table_view *view,
                      const struct path_piece *p)
{
    int64_t ns = within(p->from_ns, p->to_ns, view->from_ns, INT64_MAX);
    if (!ns)
        return;
    struct step_sum *sum = sum_of(sums, p->step, p->is);
    sum->path_ns += ns;
    if (!p->step)
        sum->total_ns += ns;
    if (ns > sum->longest_ns) {
        sum->longest_ns = ns;
        sum->longest = p->position;
        sum->thread = p->thread;
    }
}

static int by_path(const void *a, const void *b)
{
    const struct step_sum *x = a, *y = b;
    if (x->path_ns != y->path_ns)
        return (x->path_ns < y->path_ns) - (x->path_ns > y->path_ns);
    if (x->total_ns != y->total_ns)
        return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
    return (x->step > y->step) - (x->step < y->step);
}

static void sort(struct step_sums *sums)
{
    if (sums->count)
        qsort(sums->items, sums->count, sizeof *sums->items, by_path);
    for (uint32_t i = 0; i < sums->count; i++)
        if (sums->items[i].step)
            sums->index[sums->items[i].step - 1] = i + 1;
}

static void add_course(struct step_sums *sums, const struct table_view *view, uint32_t thread)
{
    const struct course_of *c = &view->measured->threads[thread];
    int64_t until = table_until(view, c);
    sums->living += c->count > 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct interval *in = &c->items[i];
        int64_t ns = within(interval_begin(c, i), in->to_ns, view->from_ns, until);
        if (in->is == INTERVAL_RUNS)
            sums->threads[thread] += ns;
        if (in->step && in->step <= sums->steps && ns)
            sum_of(sums, in->step, PATH_RUNS)->total_ns += ns;
    }
    sums->work_ns += sums->threads[thread];
}

void step_sums_make(struct step_sums *sums, const struct table_view *view, const struct path *path)
{
    const struct intervals *all = view->measured;
    sums->steps = all->steps.count;
    sums->of = all->thread_count;
    sums->index = memory_zeroed(all->steps.count + 1, sizeof *sums->index);
    sums->threads = memory_zeroed(all->thread_count + 1, sizeof *sums->threads);
    for (size_t i = 0; i < path->count; i++)
        add_piece(sums, view, &path->pieces[i]);
    for (uint32_t i = 0; i < sums->of; i++)
        add_course(sums, view, i);
    sort(sums);
}

void step_sums_slack(struct step_sums *sums, const struct table_view *view,
                     const struct graph *graph)
{
    for (uint32_t t = 0; t < sums->of; t++) {
        const struct course_of *c = &view->measured->threads[t];
        for (size_t i = 0; i < graph_intervals(graph, t); i++) {
            uint32_t step = c->items[i].step;
            struct step_sum *sum = step && step <= sums->steps && sums->index[step - 1]
                                       ? &sums->items[sums->index[step - 1] - 1]
                                       : NULL;
            if (!sum)
                continue;
            int64_t slack = graph_slack(graph, t, i);
            sum->slack_ns = slack < sum->slack_ns ? slack : sum->slack_ns;
        }
    }
}

int64_t step_sums_imbalance(const struct step_sums *sums, const struct step_sum *sum)
{
    int64_t mean = sums->living ? sum->total_ns / sums->living : 0;
    return sum->path_ns > mean ? sum->path_ns - mean : 0;
}

void step_sums_free(struct step_sums *sums)
{
    free(sums->items);
    free(sums->index);
    free(sums->threads);
}

#include "server/queries/tables/path_categories.h"

/* Times without a category in which no thread ran: starts of threads, unattributed time. */
enum { STARTS = CATEGORIES, UNEXPLAINED, KINDS };

struct path_category_sum {
    int64_t path_ns, total_ns, longest_ns;
    uint32_t thread; /* thread of the longest piece on the path */
    uint64_t longest; /* position of the event at its end; NO_POSITION: no piece is on it */
};

/* Returns the category of a code segment or piece; 0 for running time without one, which is
 * parallel or local. */
static unsigned category_of(const struct step_categories *c, uint32_t step, uint8_t is)
{
    uint8_t category = step_categories_step(c, step);
    if (category)
        return category;
    return is == PATH_STARTS    ? STARTS
           : is == PATH_RUNS    ? CATEGORY_NONE
           : is == PATH_TIMEOUT ? CATEGORY_CLOCK
           : is == PATH_LATENCY ? CATEGORY_EXTRA
                                : UNEXPLAINED;
}

static void path_categories_add_piece_ns(struct path_category_sum *sum,
                                         const struct path_piece *piece, int64_t ns)
{
    sum->path_ns += ns;
    if (ns > sum->longest_ns) {
        sum->longest_ns = ns;
        sum->longest = piece->position;
        sum->thread = piece->thread;
    }
}

static void add_piece(struct step_categories *c, const struct path_piece *p, size_t *near,
                      struct path_category_sum *sums)
{
    int64_t from_ns = p->from_ns > c->view->from_ns ? p->from_ns : c->view->from_ns;
    if (p->to_ns <= from_ns)
        return;
    unsigned category = category_of(c, p->step, p->is);
    if (category) {
        path_categories_add_piece_ns(&sums[category], p, p->to_ns - from_ns);
        if (!p->step)
            sums[category].total_ns += p->to_ns - from_ns;
        return;
    }
    int64_t beside = concurrency_levels_above(&c->levels, from_ns, p->to_ns, near);
    path_categories_add_piece_ns(&sums[CATEGORY_PARALLEL], p, beside);
    path_categories_add_piece_ns(&sums[CATEGORY_LOCAL], p, p->to_ns - from_ns - beside);
}

/* Returns the kind of a code segment, which can be time without code. */
static uint8_t piece_of(const struct code_segments *steps, uint32_t code)
{
    static const uint8_t is[STEP_KINDS] = {[STEP_LATENCY] = PATH_LATENCY,
                                           [STEP_TIMEOUT] = PATH_TIMEOUT,
                                           [STEP_UNKNOWN] = PATH_UNATTRIBUTED};
    return is[code_segments_at(steps, code).is];
}

static void sum_up(struct step_categories *c, const struct critical_path *path,
                   struct path_category_sum sums[KINDS])
{
    const struct code_segments *steps = &c->view->measured->steps;
    size_t near = 0;
    for (unsigned i = 0; i < KINDS; i++)
        sums[i] = (struct path_category_sum){.longest = NO_POSITION};
    for (size_t i = 0; i < path->count; i++)
        add_piece(c, &path->pieces[i], &near, sums);
    for (uint32_t i = 0; i < c->split_count; i++) {
        const struct category_split *s = &c->splits[i];
        unsigned category = category_of(c, i + 1, piece_of(steps, i + 1));
        sums[category ? category : CATEGORY_PARALLEL].total_ns += s->parallel_ns;
        sums[category ? category : CATEGORY_LOCAL].total_ns += s->local_ns;
    }
}

static struct table_cell path_categories_category_cell(unsigned category)
{
    return category == STARTS        ? table_cell_text("start latency")
           : category == UNEXPLAINED ? table_cell_text("unattributed")
                                     : step_categories_cell(category);
}

void path_categories_fill(struct step_categories *c, const struct critical_path *path,
                          struct result_table *t)
{
    struct path_category_sum sums[KINDS];
    uint32_t on = result_table_find_column(t, "critical_path_ns"),
             share = result_table_find_column(t, "share"),
             all = result_table_find_column(t, "total_ns");
    sum_up(c, path, sums);
    for (unsigned i = 0; i < KINDS; i++) {
        const struct path_category_sum *s = &sums[i];
        struct table_cell *cells = s->total_ns || s->path_ns
                                       ? table_add_row(t, 0, table_event(c->view, s->longest))
                                       : NULL;
        if (!cells)
            continue;
        cells[0] = path_categories_category_cell(i);
        cells[on] = (struct table_cell){.is = CELL_NUMBER, .number = s->path_ns};
        cells[all] = (struct table_cell){.is = CELL_NUMBER, .number = s->total_ns};
        if (critical_path_length(path) > 0)
            cells[share] = (struct table_cell){
                .is = CELL_REAL, .real = (double)s->path_ns / (double)critical_path_length(path)};
        if (s->thread)
            table_row_line(t, s->thread);
    }
}

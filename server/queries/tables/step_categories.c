#include "server/queries/tables/step_categories.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/run/activity_store.h"
#include "server/run/call_sites.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

/* ---- categories of places ---- */

static unsigned step_categories_parse(const char *word, size_t size)
{
    unsigned i = 1;
    while (i < CATEGORIES &&
           (strlen(target_categories[i]) != size || strncmp(target_categories[i], word, size) != 0))
        i++;
    return i;
}

/* Reads an item such as "2:4198694=system". */
static bool step_categories_read_one(struct step_categories *c, const char *text, size_t size)
{
    char *colon, *sign;
    unsigned long process = strtoul(text, &colon, 10);
    if (colon == text || *colon != ':' || process >= c->view->run->processes.count)
        return false;
    unsigned long long address = strtoull(colon + 1, &sign, 10);
    if (sign == colon + 1 || *sign != '=' || sign >= text + size)
        return false;
    unsigned category = step_categories_parse(sign + 1, (size_t)(text + size - sign - 1));
    struct call_site_key key = call_sites_key(c->view->run, (uint32_t)process, address);
    if (category == CATEGORIES)
        return false;
    map_put(&c->categories, key.space, key.offset, (void *)(uintptr_t)category);
    return c->any = true;
}

bool step_categories_begin(struct step_categories *c, const struct table_view *view,
                           struct error *error)
{
    const char *option = table_option(view->request, "category");
    *c = (struct step_categories){.view = view};
    for (size_t size; option && *option; option += size + (option[size] == ',')) {
        size = strcspn(option, ",");
        if (!step_categories_read_one(c, option, size)) {
            error_set(error,
                      "category %.*s: it is PROCESS:ADDRESS=WORD, of a word that "
                      "descriptions know",
                      (int)size, option);
            return false;
        }
    }
    return true;
}

/* Returns the category of a function, or of the call at a place; 0 for none. */
static uint8_t step_categories_place(const struct step_categories *c, struct table_place place)
{
    if (!c->any || !place.address)
        return CATEGORY_NONE;
    struct call_site_key key = call_sites_key(c->view->run, place.process, place.address);
    return (uint8_t)(uintptr_t)map_get(&c->categories, key.space, key.offset);
}

/* ---- categories of code segments and waits ---- */

static uint8_t step_categories_path(const struct step_categories *c, uint32_t path)
{
    for (; path; path = activity_path(c->view->run, path)->parent) {
        const struct activity_path *p = activity_path(c->view->run, path);
        if (p->scope == SCOPE_WAITED)
            return CATEGORY_EXTRA;
        uint8_t found = step_categories_place(c, (struct table_place){p->process, p->function});
        if (found)
            return found;
    }
    return CATEGORY_NONE;
}

uint8_t step_categories_step(const struct step_categories *c, uint32_t code)
{
    const struct code_segments *steps = &c->view->measured->steps;
    if (!code || code > steps->count)
        return CATEGORY_NONE;
    struct code_segment_key step = code_segments_at(steps, code);
    if (step.category)
        return step.category;
    if (step.is == STEP_TIMEOUT)
        return CATEGORY_CLOCK;
    return step.is == STEP_CALLS ? step_categories_path(c, step.from) : CATEGORY_NONE;
}

uint8_t step_categories_wait(const struct step_categories *c, const struct wait_record *wait)
{
    return wait->class == WAIT_TIMEOUT ? CATEGORY_CLOCK
           : !wait->type               ? CATEGORY_JOIN
                                       : interval_cache_category(c->view->run, wait->begin);
}

struct table_cell step_categories_cell(unsigned category)
{
    return category && category < CATEGORIES ? table_cell_text(target_categories[category])
                                             : (struct table_cell){0};
}

/* ---- parallel time ---- */

static void step_categories_begin_split(struct step_categories *c)
{
    concurrency_levels_make(&c->levels, c->view->measured);
    c->levelled = true;
    c->split_count = c->view->measured->steps.count;
    c->splits = xcalloc(c->split_count + 1, sizeof *c->splits);
}

static void step_categories_add_interval(struct step_categories *c,
                                         const struct thread_timeline *course, int64_t until_ns)
{
    const struct interval *in = &course->items[c->item];
    int64_t from = interval_begin(course, c->item), to = in->to_ns;
    from = from > c->view->from_ns ? from : c->view->from_ns;
    to = to < until_ns ? to : until_ns;
    if (to <= from || !in->step || in->step > c->split_count)
        return;
    int64_t beside = concurrency_levels_above(&c->levels, from, to, &c->near);
    c->splits[in->step - 1].parallel_ns += beside;
    c->splits[in->step - 1].local_ns += to - from - beside;
}

bool step_categories_split(struct step_categories *c, uint64_t *budget)
{
    const struct intervals *all = c->view->measured;
    if (!c->levelled)
        step_categories_begin_split(c);
    for (; c->thread < all->thread_count; c->thread++, c->item = c->near = 0) {
        const struct thread_timeline *course = &all->threads[c->thread];
        int64_t until_ns =
            table_wants(c->view, course->thread) ? table_until(c->view, course) : INT64_MIN;
        for (; c->item < course->count; c->item++, --*budget) {
            if (!*budget)
                return false;
            step_categories_add_interval(c, course, until_ns);
        }
    }
    return true;
}

void step_categories_free(struct step_categories *c)
{
    map_free(&c->categories);
    concurrency_levels_free(&c->levels);
    free(c->splits);
    *c = (struct step_categories){0};
}

/* Times without a category in which no thread ran: starts of threads, unattributed time. */
/* ---- the critical path by category ---- */

enum { STARTS = CATEGORIES, UNEXPLAINED, KINDS };

struct path_category_sum {
    int64_t path_ns, total_ns, longest_ns;
    uint32_t thread; /* thread of the longest piece on the path */
    uint64_t longest; /* position of the event at its end; NO_POSITION: no piece is on it */
};

/* Returns the category of a code segment or piece; 0 for running time without one, which is
 * parallel or local. */
static unsigned path_categories_category_of(const struct step_categories *c, uint32_t step,
                                            uint8_t is)
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

static void path_categories_add_piece(struct step_categories *c, const struct path_piece *p,
                                      size_t *near, struct path_category_sum *sums)
{
    int64_t from_ns = p->from_ns > c->view->from_ns ? p->from_ns : c->view->from_ns;
    if (p->to_ns <= from_ns)
        return;
    unsigned category = path_categories_category_of(c, p->step, p->is);
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
static uint8_t path_categories_piece_of(const struct code_segments *steps, uint32_t code)
{
    static const uint8_t is[STEP_KINDS] = {[STEP_LATENCY] = PATH_LATENCY,
                                           [STEP_TIMEOUT] = PATH_TIMEOUT,
                                           [STEP_UNKNOWN] = PATH_UNATTRIBUTED};
    return is[code_segments_at(steps, code).is];
}

static void path_categories_sum_up(struct step_categories *c, const struct critical_path *path,
                                   struct path_category_sum sums[KINDS])
{
    const struct code_segments *steps = &c->view->measured->steps;
    size_t near = 0;
    for (unsigned i = 0; i < KINDS; i++)
        sums[i] = (struct path_category_sum){.longest = NO_POSITION};
    for (size_t i = 0; i < path->count; i++)
        path_categories_add_piece(c, &path->pieces[i], &near, sums);
    for (uint32_t i = 0; i < c->split_count; i++) {
        const struct category_split *s = &c->splits[i];
        unsigned category =
            path_categories_category_of(c, i + 1, path_categories_piece_of(steps, i + 1));
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
    path_categories_sum_up(c, path, sums);
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

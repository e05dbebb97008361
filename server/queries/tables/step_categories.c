#include "server/queries/tables/step_categories.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/run/activity_store.h"
#include "server/run/call_sites.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

/* ---- categories of places ---- */

static unsigned category_of(const char *word, size_t size)
{
    unsigned i = 1;
    while (i < CATEGORIES &&
           (strlen(target_categories[i]) != size || strncmp(target_categories[i], word, size) != 0))
        i++;
    return i;
}

/* Reads an item such as "2:4198694=system". */
static bool read_one(struct step_categories *c, const char *text, size_t size)
{
    char *colon, *sign;
    unsigned long process = strtoul(text, &colon, 10);
    if (colon == text || *colon != ':' || process >= c->view->run->processes.count)
        return false;
    unsigned long long address = strtoull(colon + 1, &sign, 10);
    if (sign == colon + 1 || *sign != '=' || sign >= text + size)
        return false;
    unsigned category = category_of(sign + 1, (size_t)(text + size - sign - 1));
    struct call_site_key key = call_sites_key(c->view->run, (uint32_t)process, address);
    if (category == CATEGORIES)
        return false;
    map_put(&c->categories, key.space, key.offset, (void *)(uintptr_t)category);
    return c->any = true;
}

bool step_categories_begin(struct step_categories *c, const struct table_view *view, char **problem)
{
    const char *option = table_option(view->request, "category");
    *c = (struct step_categories){.view = view};
    for (size_t size; option && *option; option += size + (option[size] == ',')) {
        size = strcspn(option, ",");
        if (!read_one(c, option, size)) {
            *problem = xasprintf("category %.*s: it is PROCESS:ADDRESS=WORD, of a word that "
                                 "descriptions know",
                                 (int)size, option);
            return false;
        }
    }
    return true;
}

uint8_t step_categories_place(const struct step_categories *c, struct table_place place)
{
    if (!c->any || !place.address)
        return CATEGORY_NONE;
    struct call_site_key key = call_sites_key(c->view->run, place.process, place.address);
    return (uint8_t)(uintptr_t)map_get(&c->categories, key.space, key.offset);
}

/* ---- categories of code segments and waits ---- */

static uint8_t of_path(const struct step_categories *c, uint32_t path)
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
    return step.is == STEP_CALLS ? of_path(c, step.from) : CATEGORY_NONE;
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

static void begin_split(struct step_categories *c)
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
        begin_split(c);
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

#include "server/queries/tables/attribution_cells.h"

#include "base/alloc.h"
#include "server/queries/attribution_cache.h"
#include "wire/thread_state_names.h"

#include <stdlib.h>
#include <string.h>

static bool read_since(struct attribution_cells *c, const struct table_view *view,
                       struct error *error)
{
    static const char *const words[] = {"class", "wait", "rendezvous"};
    const char *since = table_option(view->request, "since");
    for (unsigned i = 0; since && i < 3; i++)
        if (strcmp(since, words[i]) == 0) {
            c->since = (enum attribution_since)i;
            return true;
        }
    if (since)
        error_set(error, "since %s: must be class, wait or rendezvous", since);
    return !since;
}

/* Adds the time from a thread's first event to its exit: the time until its join belongs to no
 * thread. */
static void attribution_cells_add_lifetime(struct attribution_cells *c,
                                           const struct thread_timeline *course, int64_t until_ns)
{
    int64_t from = course->start_ns, to = course->end_ns;
    if (from == INTERVALS_NEVER)
        return;
    if (to == INTERVALS_NEVER)
        to = course->count ? course->items[course->count - 1].to_ns : from;
    from = from > c->from_ns ? from : c->from_ns;
    to = to < until_ns ? to : until_ns;
    c->life_ns += to > from ? to - from : 0;
}

bool attribution_cells_begin(struct attribution_cells *c, const struct table_view *view,
                             struct error *error)
{
    uint32_t count = view->measured->thread_count;
    *c = (struct attribution_cells){
        .run = view->run, .from_ns = view->from_ns, .until_count = count};
    if (!read_since(c, view, error))
        return false;
    c->until_ns = xcalloc(count, sizeof *c->until_ns);
    for (uint32_t i = 0; i < count; i++) {
        const struct thread_timeline *course = &view->measured->threads[i];
        bool wanted = table_wants(view, course->thread);
        c->until_ns[i] = wanted ? table_until(view, course) : INT64_MIN;
        if (wanted)
            attribution_cells_add_lifetime(c, course, c->until_ns[i]);
    }
    return true;
}

bool attribution_cells_prepare(struct attribution_cells *c, uint64_t *budget)
{
    return attribution_cache_step(c->run, c->since, budget);
}

void attribution_cells_free(struct attribution_cells *c) { free(c->until_ns); }

bool attribution_cells_wants(const struct table_view *view, const char *option)
{
    return table_option(view->request, option) != NULL;
}

uint32_t attribution_cells_line(const struct table_view *view, const char *option)
{
    const char *value = table_option(view->request, option);
    return value ? (uint32_t)strtoul(value, NULL, 10) : 0;
}

struct event_id attribution_cells_event(const struct table_view *view, const char *option)
{
    const char *value = table_option(view->request, option);
    char *colon;
    unsigned long line = value ? strtoul(value, &colon, 10) : 0;
    if (!line || *colon != ':')
        return (struct event_id){0};
    return (struct event_id){(uint32_t)line, strtoull(colon + 1, NULL, 10)};
}

struct table_cell attribution_cells_step(const struct table_view *view, uint32_t step)
{
    switch (step) {
    case STEP_NOT_THERE:
        return table_cell_text("unknown or before thread start");
    case STEP_STARTING:
        return table_cell_text("before thread start");
    case STEP_OTHERS:
        return table_cell_text("other");
    default:
        return table_step(view, step);
    }
}

struct table_cell attribution_cells_text(const char *text)
{
    return text && *text ? table_cell_text(text) : (struct table_cell){0};
}

const char *attribution_cells_class(unsigned class)
{
    static const char *const words[WAIT_CLASSES] = {"rendezvous", "contention", "timeout"};
    return class < WAIT_CLASSES ? words[class] : "";
}

void attribution_cells_add_delay(struct result_table *table)
{
    const struct thread_state_words *runnable = &thread_state_words[THREAD_STATE_RUNNABLE];
    const char *const columns[][2] = {{"resume_ns", "resume delay"},
                                      {runnable->column, runnable->name},
                                      {"wakeup_latency_ns", "wake-up latency"},
                                      {"runnable_source", "source"}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        table_add_column(table, columns[i][0], columns[i][1], i < 3 ? TABLE_NS : TABLE_TEXT, NULL);
        table_detail(table);
    }
}

void attribution_cells_resume_delay(struct table_cell *cells, const struct resume_delay *going_on)
{
    bool known = going_on->source != CPU_SOURCE_ORDER;
    cells[0] = table_cell_number(going_on->took_ns);
    if (going_on->took_ns)
        cells[3] = table_cell_text(resume_delay_source(going_on->source));
    if (going_on->took_ns && !known)
        return;
    cells[1] = table_cell_number(going_on->ready_ns);
    cells[2] = table_cell_number(going_on->took_ns - going_on->ready_ns);
}

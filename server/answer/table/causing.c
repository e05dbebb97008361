#include "server/answer/table/causing.h"

#include "memory/memory.h"
#include "server/answer/explained.h"
#include "server/answer/measured.h"

#include <stdlib.h>
#include <string.h>

static bool read_since(struct causing *c, const struct table_view *view, char **problem)
{
    static const char *const words[] = {"class", "wait", "meeting"};
    const char *since = table_option(view->request, "since");
    for (unsigned i = 0; since && i < 3; i++)
        if (strcmp(since, words[i]) == 0) {
            c->since = (enum since)i;
            return true;
        }
    if (since)
        *problem = memory_printed("since %s: it is class, wait or meeting", since);
    return !since;
}

/* From its first event until it ended: what is left until it is gone is nobody's time. */
static void add_life(struct causing *c, const struct course_of *course, int64_t until_ns)
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

bool causing_begin(struct causing *c, const struct table_view *view, char **problem)
{
    uint32_t count = view->measured->thread_count;
    *c = (struct causing){.run = view->run, .from_ns = view->from_ns, .until_count = count};
    if (!read_since(c, view, problem))
        return false;
    c->until_ns = memory_zeroed(count, sizeof *c->until_ns);
    for (uint32_t i = 0; i < count; i++) {
        const struct course_of *course = &view->measured->threads[i];
        bool wanted = table_wants(view, course->thread);
        c->until_ns[i] = wanted ? table_until(view, course) : INT64_MIN;
        if (wanted)
            add_life(c, course, c->until_ns[i]);
    }
    return true;
}

bool causing_learn(struct causing *c, uint64_t *budget)
{
    return explained_learn(c->run, c->since, budget);
}

void causing_free(struct causing *c) { free(c->until_ns); }

bool causing_wants(const struct table_view *view, const char *option)
{
    return table_option(view->request, option) != NULL;
}

uint32_t causing_line(const struct table_view *view, const char *option)
{
    const char *value = table_option(view->request, option);
    return value ? (uint32_t)strtoul(value, NULL, 10) : 0;
}

struct ref causing_event(const struct table_view *view, const char *option)
{
    const char *value = table_option(view->request, option);
    char *colon;
    unsigned long line = value ? strtoul(value, &colon, 10) : 0;
    if (!line || *colon != ':')
        return (struct ref){0};
    return (struct ref){(uint32_t)line, strtoull(colon + 1, NULL, 10)};
}

struct table_cell causing_step(const struct table_view *view, uint32_t step)
{
    switch (step) {
    case STEP_NOT_THERE:
        return cell_text("not known, or not there yet");
    case STEP_STARTING:
        return cell_text("not begun yet");
    case STEP_OTHERS:
        return cell_text("others");
    default:
        return table_step(view, step);
    }
}

struct table_cell causing_text(const char *text)
{
    return text && *text ? cell_text(text) : (struct table_cell){0};
}

const char *causing_class(unsigned class)
{
    static const char *const words[WAIT_CLASSES] = {"meeting", "exclusion", "timer"};
    return class < WAIT_CLASSES ? words[class] : "";
}

void causing_add_going_on(struct shown_table *table)
{
    static const char *const columns[][2] = {{"going_on_ns", "going on"},
                                             {"ready_ns", "ready"},
                                             {"latency_ns", "latency"},
                                             {"ready_source", "by"}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        table_add_column(table, columns[i][0], columns[i][1], i < 3 ? TABLE_NS : TABLE_TEXT, NULL);
        table_detail(table);
    }
}

void causing_going_on(struct table_cell *cells, const struct going_on *going_on)
{
    bool known = going_on->source != SPANS_ORDER;
    cells[0] = cell_number(going_on->took_ns);
    if (going_on->took_ns)
        cells[3] = cell_text(going_on_source(going_on->source));
    if (going_on->took_ns && !known)
        return;
    cells[1] = cell_number(going_on->ready_ns);
    cells[2] = cell_number(going_on->took_ns - going_on->ready_ns);
}

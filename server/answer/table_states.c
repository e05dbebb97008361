/* The table of states: how each thread spent its life. */
#include "server/answer/table.h"
#include "memory/memory.h"
#include "server/measure/states.h"

#include <stdio.h>

#define BOUND "order: all that no wait accounts for"

static const char *source_of(unsigned state)
{
    return state == STATE_RUNNING ? BOUND : state == STATE_SYSTEM ? "none" : NULL;
}

/* count, least and most of a state. */
static void add_details(struct shown_table *t, unsigned state)
{
    static const char *const names[] = {"count", "least_ns", "most_ns"}, *const titles[] = {"times",
                                                                                            "least",
                                                                                            "most"};
    for (unsigned i = 0; i < 3; i++) {
        char name[40], title[40];
        snprintf(name, sizeof name, "%s_%s", states_word(state), names[i]);
        snprintf(title, sizeof title, "%s %s", states_word(state), titles[i]);
        table_add_column(t, name, title, i ? TABLE_NS : TABLE_COUNT, source_of(state));
        table_detail(t);
    }
}

static bool has_details(unsigned state)
{
    return state == STATE_READY || state == STATE_RUNNING || state == STATE_BLOCKED;
}

static void add_columns(struct shown_table *t)
{
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    for (unsigned state = 0; state < STATES; state++) {
        char name[40];
        snprintf(name, sizeof name, "%s_ns", states_word(state));
        table_add_column(t, name, states_word(state), TABLE_NS, source_of(state));
    }
    table_add_column(t, "life_ns", "life", TABLE_NS, NULL);
    for (unsigned state = 0; state < STATES; state++)
        if (has_details(state))
            add_details(t, state);
}

static void set_sums(struct table_cell *cells, const struct states *s)
{
    struct table_cell *cell = cells + 1;
    for (unsigned state = 0; state < STATES; state++, cell++)
        if (state != STATE_SYSTEM)
            *cell = cell_number(s->of[state].total_ns);
    *cell++ = cell_number(s->life_ns);
    for (unsigned state = 0; state < STATES; state++) {
        const struct state_sum *sum = &s->of[state];
        if (!has_details(state))
            continue;
        *cell++ = cell_number((int64_t)sum->count);
        *cell++ = sum->count ? cell_number(sum->least_ns) : (struct table_cell){0};
        *cell++ = sum->count ? cell_number(sum->most_ns) : (struct table_cell){0};
    }
}

/* False: nothing of it counts. */
static bool add_thread(const struct table_view *view, const struct course_of *course,
                       struct shown_table *t, struct states *all)
{
    struct states sums;
    states_sum(&view->lives, course, view->from_ns, table_until(view, course), &sums);
    if (!table_wants(view, course->thread) || !sums.life_ns)
        return false;
    struct table_cell *cells = table_add_row(t, 0, table_event(view, course->start));
    if (!cells)
        return false;
    cells[0] = cell_line(course->thread);
    set_sums(cells, &sums);
    table_row_line(t, course->thread);
    states_add(all, &sums);
    return true;
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct states all = {0};
    (void)work;
    t->title = memory_copied("states");
    add_columns(t);
    for (uint32_t i = 0; i < view->measured->thread_count; i++)
        add_thread(view, &view->measured->threads[i], t, &all);
    set_sums(table_make_total(t), &all);
    if (all.unexplained)
        table_add_note(t,
                       "blocked has %.3f ms in %llu waits of which nothing recorded tells who "
                       "ended them",
                       (double)all.unexplained_ns / 1e6, (unsigned long long)all.unexplained);
    table_add_note(t, "running is what no wait accounts for: an upper bound, as the order alone "
                      "does not tell when the system ran others");
    table_arrange(t, view->request, NULL);
}

static const char *const by[] = {"thread", NULL};

const struct preset preset_states = {.what = "states", .by = by, .fill = fill};

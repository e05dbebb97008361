#include "clients/viewer/state/highlights.h"

#include <glib.h>
#include <stdlib.h>

static int by_ref(const void *a, const void *b)
{
    const struct event_id *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void highlights_add(struct highlights *m, const struct event_id *events, uint32_t count)
{
    uint32_t n = m->event_count, kept = 0;
    m->events = g_renew(struct event_id, m->events, n + count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].line)
            m->events[n++] = events[i];
    qsort(m->events, n, sizeof *m->events, by_ref);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || !event_id_equal(m->events[kept - 1], m->events[i]))
            m->events[kept++] = m->events[i];
    m->event_count = kept;
}

void highlights_set(struct highlights *m, const struct event_id *events, uint32_t event_count,
                    const uint32_t *lines, uint32_t line_count)
{
    highlights_clear(m);
    highlights_add(m, events, event_count);
    m->lines = line_count ? g_memdup2(lines, line_count * sizeof *lines) : NULL;
    m->line_count = line_count;
}

bool highlights_has_line(const struct highlights *m, uint32_t line)
{
    for (uint32_t i = 0; i < m->line_count; i++)
        if (m->lines[i] == line)
            return true;
    return false;
}

void highlights_clear(struct highlights *m)
{
    g_free(m->events);
    g_free(m->lines);
    *m = (struct highlights){0};
}

#include "clients/view/parts/marked.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static int by_ref(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void marked_add(struct marked *m, const struct ref *events, uint32_t count)
{
    uint32_t n = m->event_count, kept = 0;
    m->events = g_renew(struct ref, m->events, n + count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].line)
            m->events[n++] = events[i];
    qsort(m->events, n, sizeof *m->events, by_ref);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || !ref_equal(m->events[kept - 1], m->events[i]))
            m->events[kept++] = m->events[i];
    m->event_count = kept;
}

void marked_set(struct marked *m, const struct ref *events, uint32_t event_count,
                const uint32_t *lines, uint32_t line_count)
{
    marked_clear(m);
    marked_add(m, events, event_count);
    m->lines = line_count ? g_memdup2(lines, line_count * sizeof *lines) : NULL;
    m->line_count = line_count;
}

bool marked_line(const struct marked *m, uint32_t line)
{
    for (uint32_t i = 0; i < m->line_count; i++)
        if (m->lines[i] == line)
            return true;
    return false;
}

void marked_clear(struct marked *m)
{
    g_free(m->events);
    g_free(m->lines);
    *m = (struct marked){0};
}

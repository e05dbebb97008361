#include "render/scene_times.h"

#include "base/lower_bound.h"
#include "base/alloc.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    const struct time_at *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->x_pt < y->x_pt ? -1 : x->x_pt > y->x_pt;
}

void scene_times_make(struct scene_times *t, const struct scene *s)
{
    *t = (struct scene_times){.at = xmalloc((s->mark_count + 1) * sizeof *t->at),
                              .left_pt = s->names_pt,
                              .right_pt = s->width_pt};
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].state != EVENT_PENDING)
            t->at[t->count++] = (struct time_at){s->marks[i].event->time_ns, s->marks[i].x_pt};
    qsort(t->at, t->count, sizeof *t->at, by_time);
    for (uint32_t i = 1; i < t->count; i++)
        if (t->at[i].x_pt < t->at[i - 1].x_pt)
            t->at[i].x_pt = t->at[i - 1].x_pt;
}

void scene_times_free(struct scene_times *t)
{
    free(t->at);
    *t = (struct scene_times){0};
}

double scene_times_x(const struct scene_times *t, int64_t ns)
{
    uint32_t low = LOWER_BOUND(i, 0, t->count, t->at[i].ns <= ns);
    if (low == 0 || low == t->count)
        return low && t->at[low - 1].ns == ns ? t->at[low - 1].x_pt
               : low                          ? t->right_pt
                                              : t->left_pt;
    const struct time_at *p = &t->at[low - 1], *q = &t->at[low];
    return p->x_pt + (q->x_pt - p->x_pt) * (double)(ns - p->ns) / (double)(q->ns - p->ns);
}

void scene_times_span(const struct scene_times *t, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = t->count ? t->at[0].ns : 0;
    *to_ns = t->count ? t->at[t->count - 1].ns : 0;
}

#include "clients/view/picture/axis.h"

#include "clients/view/parts/camera.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>

struct at {
    int64_t ns;
    double x_pt;
};

struct axis {
    struct at *at; /* by time; x never falls */
    uint32_t count;
    const struct scene_mark **marks; /* by line and number */
    uint32_t mark_count;
    double left_pt, right_pt;
    bool made;
    const struct scene *of; /* it borrows the marks of this one, */
    uint64_t serial; /*   which may be gone: another may lie in its place */
};

static int by_time(const void *a, const void *b)
{
    const struct at *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->x_pt < y->x_pt ? -1 : x->x_pt > y->x_pt;
}

static int compare(struct ref a, struct ref b)
{
    if (a.line != b.line)
        return a.line < b.line ? -1 : 1;
    return a.number < b.number ? -1 : a.number > b.number;
}

static int by_event(const void *a, const void *b)
{
    const struct scene_mark *const *x = a, *const *y = b;
    return compare((*x)->event->at, (*y)->event->at);
}

static void empty(struct axis *a)
{
    g_free(a->at);
    g_free(a->marks);
    *a = (struct axis){0};
}

static void make(struct axis *a, const struct scene *s)
{
    empty(a);
    a->at = g_new(struct at, s->mark_count + 1);
    a->marks = g_new(const struct scene_mark *, s->mark_count + 1);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        if (m->state == EVENT_PENDING)
            continue;
        a->at[a->count++] = (struct at){m->event->time_ns, m->x_pt};
        a->marks[a->mark_count++] = m;
    }
    qsort(a->at, a->count, sizeof *a->at, by_time);
    qsort(a->marks, a->mark_count, sizeof *a->marks, by_event);
    for (uint32_t i = 1; i < a->count; i++)
        a->at[i].x_pt = MAX(a->at[i].x_pt, a->at[i - 1].x_pt);
    a->left_pt = s->names_pt;
    a->right_pt = s->width_pt;
    a->made = true;
}

const struct axis *axis_of(struct view *view)
{
    if (!view->stage.scene || view->camera.place.far)
        return NULL;
    if (!view->axis)
        view->axis = g_new0(struct axis, 1);
    struct axis *a = view->axis;
    if (!a->made || a->of != view->stage.scene || a->serial != view->stage.serial) {
        make(a, view->stage.scene);
        a->of = view->stage.scene;
        a->serial = view->stage.serial;
    }
    return a;
}

void axis_stale(struct view *view)
{
    if (view->axis)
        empty(view->axis);
}

double axis_x_pt(const struct axis *a, int64_t ns)
{
    uint32_t low = 0, high = a->count;
    while (low < high) { /* the first that is later */
        uint32_t middle = (low + high) / 2;
        if (a->at[middle].ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || low == a->count)
        return low && a->at[low - 1].ns == ns ? a->at[low - 1].x_pt
               : low                          ? a->right_pt
                                              : a->left_pt;
    const struct at *p = &a->at[low - 1], *q = &a->at[low];
    return p->x_pt + (q->x_pt - p->x_pt) * (double)(ns - p->ns) / (double)(q->ns - p->ns);
}

void axis_span(const struct axis *a, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = a->count ? a->at[0].ns : 0;
    *to_ns = a->count ? a->at[a->count - 1].ns : 0;
}

const struct scene_mark *axis_mark(const struct axis *a, struct ref at)
{
    uint32_t low = 0, high = a->mark_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (compare(a->marks[middle]->event->at, at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is = low < a->mark_count && ref_equal(a->marks[low]->event->at, at);
    return is ? a->marks[low] : NULL;
}

int axis_row(struct view *view, uint32_t line)
{
    const struct scene *s = view->stage.scene;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].line == line)
            return (int)i;
    return -1;
}

double axis_screen_x(struct view *view, double x_pt)
{
    return camera_names_px(&view->camera) +
           (x_pt - camera_left_pt(&view->camera)) * view->camera.place.zoom;
}

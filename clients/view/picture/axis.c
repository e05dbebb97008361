#include "clients/view/picture/axis.h"

#include "clients/view/parts/camera.h"
#include "clients/view/picture/view.h"
#include "render/times.h"

#include <stdlib.h>

struct axis {
    struct times times;
    const struct scene_mark **marks; /* by line and number */
    uint32_t mark_count;
    bool made;
    const struct scene *of; /* it borrows the marks of this one, */
    uint64_t serial; /*   which may be gone: another may lie in its place */
};

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
    times_free(&a->times);
    g_free(a->marks);
    *a = (struct axis){0};
}

static void make(struct axis *a, const struct scene *s)
{
    empty(a);
    times_make(&a->times, s);
    a->marks = g_new(const struct scene_mark *, s->mark_count + 1);
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].state != EVENT_PENDING)
            a->marks[a->mark_count++] = &s->marks[i];
    qsort(a->marks, a->mark_count, sizeof *a->marks, by_event);
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

double axis_x_pt(const struct axis *a, int64_t ns) { return times_x(&a->times, ns); }

void axis_span(const struct axis *a, int64_t *from_ns, int64_t *to_ns)
{
    times_span(&a->times, from_ns, to_ns);
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

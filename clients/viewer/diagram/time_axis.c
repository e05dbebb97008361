#include "clients/viewer/diagram/time_axis.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene_times.h"
#include "base/lower_bound.h"

#include <stdlib.h>

struct time_axis {
    struct scene_times times;
    const struct scene_mark **marks; /* by line and number */
    uint32_t mark_count;
    bool made;
    const struct scene *of; /* the scene of the marks that it borrows */
    uint64_t serial; /* of that scene: a later one may have its address */
};

static const struct viewer_addon time_axis_addon = {"time_axis", sizeof(struct time_axis)};

static struct time_axis *time_axis_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &time_axis_addon);
}

static int time_axis_compare_ref(struct event_id a, struct event_id b)
{
    if (a.line != b.line)
        return a.line < b.line ? -1 : 1;
    return a.number < b.number ? -1 : a.number > b.number;
}

static int time_axis_compare_event(const void *a, const void *b)
{
    const struct scene_mark *const *x = a, *const *y = b;
    return time_axis_compare_ref((*x)->event->at, (*y)->event->at);
}

static void time_axis_free_marks(struct time_axis *a)
{
    scene_times_free(&a->times);
    g_free(a->marks);
    *a = (struct time_axis){0};
}

static void time_axis_build(struct time_axis *a, const struct scene *s)
{
    time_axis_free_marks(a);
    scene_times_make(&a->times, s);
    a->marks = g_new(const struct scene_mark *, s->mark_count + 1);
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].state != EVENT_PENDING)
            a->marks[a->mark_count++] = &s->marks[i];
    qsort(a->marks, a->mark_count, sizeof *a->marks, time_axis_compare_event);
    a->made = true;
}

const struct time_axis *time_axis_of(struct view *view)
{
    if (!view->scene_cache.scene || view->viewport.place.overview)
        return NULL;
    struct time_axis *a = time_axis_find(view);
    if (!a)
        a = viewer_addons_add(&view->addons, &time_axis_addon);
    if (!a->made || a->of != view->scene_cache.scene || a->serial != view->scene_cache.serial) {
        time_axis_build(a, view->scene_cache.scene);
        a->of = view->scene_cache.scene;
        a->serial = view->scene_cache.serial;
    }
    return a;
}

void time_axis_on_notification(struct view *view, enum notification what)
{
    (void)what;
    struct time_axis *axis = time_axis_find(view);
    if (axis)
        time_axis_free_marks(axis);
}

double time_axis_x_pt(const struct time_axis *a, int64_t ns)
{
    return scene_times_x(&a->times, ns);
}

int64_t time_axis_ns(const struct time_axis *a, double x_pt)
{
    return scene_times_ns(&a->times, x_pt);
}

void time_axis_span(const struct time_axis *a, int64_t *from_ns, int64_t *to_ns)
{
    scene_times_span(&a->times, from_ns, to_ns);
}

const struct scene_mark *time_axis_find_mark(const struct time_axis *a, struct event_id at)
{
    uint32_t low =
        LOWER_BOUND(i, 0, a->mark_count, time_axis_compare_ref(a->marks[i]->event->at, at) < 0);
    bool found = low < a->mark_count && event_id_equal(a->marks[low]->event->at, at);
    return found ? a->marks[low] : NULL;
}

int time_axis_row_of_line(struct view *view, uint32_t line)
{
    const struct scene *s = view->scene_cache.scene;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].line == line)
            return (int)i;
    return -1;
}

double time_axis_screen_x(struct view *view, double x_pt)
{
    return viewport_names_px(&view->viewport) +
           (x_pt - viewport_left_pt(&view->viewport)) * view->viewport.place.zoom;
}

double time_axis_scene_x(const struct view *view, double x_px)
{
    return viewport_left_pt(&view->viewport) +
           (x_px - viewport_names_px(&view->viewport)) / view->viewport.place.zoom;
}

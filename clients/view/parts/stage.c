#include "clients/view/parts/stage.h"
#include "wire/placed.h"
#include "wire/shown.h"

const struct scene_mark *stage_mark(const struct stage *stage, struct ref at)
{
    const struct scene *s = stage->scene;
    for (uint32_t i = 0; s && at.line && i < s->mark_count; i++)
        if (ref_equal(s->marks[i].event->at, at))
            return &s->marks[i];
    return NULL;
}

const struct shown_event *stage_event(const struct stage *stage, struct ref at)
{
    const struct shown_window *w = &stage->window;
    for (uint32_t i = 0; i < w->event_count; i++)
        if (ref_equal(w->events[i].at, at))
            return &w->events[i];
    for (uint32_t i = 0; i < w->pending_count; i++)
        if (ref_equal(w->pending[i].at, at))
            return &w->pending[i];
    return NULL;
}

void stage_stale(struct stage *stage) { stage->serial++; }

bool stage_build(struct stage *stage, const struct book *book, const struct scene_options *options)
{
    scene_free(stage->scene);
    stage->scene = scene_build(&stage->window, book, options);
    stage->serial++;
    return stage->scene != NULL;
}

void stage_free(struct stage *stage)
{
    for (unsigned i = 0; i < TILES; i++)
        if (stage->tiles[i].surface)
            cairo_surface_destroy(stage->tiles[i].surface);
    shown_window_free(&stage->window);
    scene_free(stage->scene);
    *stage = (struct stage){.serial = stage->serial + 1};
}

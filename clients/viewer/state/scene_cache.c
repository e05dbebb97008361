#include "clients/viewer/state/scene_cache.h"

const struct scene_mark *scene_cache_find_mark(const struct scene_cache *stage, struct event_id at)
{
    const struct scene *s = stage->scene;
    for (uint32_t i = 0; s && at.line && i < s->mark_count; i++)
        if (event_id_equal(s->marks[i].event->at, at))
            return &s->marks[i];
    return NULL;
}

const struct event_info *scene_cache_find_event(const struct scene_cache *stage, struct event_id at)
{
    const struct window_info *w = &stage->window;
    for (uint32_t i = 0; i < w->event_count; i++)
        if (event_id_equal(w->events[i].at, at))
            return &w->events[i];
    for (uint32_t i = 0; i < w->pending_count; i++)
        if (event_id_equal(w->pending[i].at, at))
            return &w->pending[i];
    return NULL;
}

void scene_cache_invalidate(struct scene_cache *stage) { stage->serial++; }

bool scene_cache_build(struct scene_cache *stage, const struct trace_metadata *book,
                       const struct scene_options *options)
{
    scene_free(stage->scene);
    stage->scene = scene_build(&stage->window, book, options);
    stage->serial++;
    return stage->scene != NULL;
}

void scene_cache_free(struct scene_cache *stage)
{
    for (unsigned i = 0; i < TILES; i++)
        if (stage->tiles[i].surface)
            cairo_surface_destroy(stage->tiles[i].surface);
    window_info_free(&stage->window);
    scene_free(stage->scene);
    *stage = (struct scene_cache){.serial = stage->serial + 1};
}

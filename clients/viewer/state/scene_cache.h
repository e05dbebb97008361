/* The current window of placed events, the scene made from it, and its painted tiles.
 *
 * It is independent of the visible part, which the viewport knows. */
#ifndef CLIENTS_VIEWER_STATE_SCENE_CACHE_H
#define CLIENTS_VIEWER_STATE_SCENE_CACHE_H

#include "render/scene.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

#include <cairo.h>
#include <glib.h>
#include <stdbool.h>

#define TILES 32
#define TILE_PX 256

struct scene_cache {
    struct window_info window;
    struct scene *scene; /* NULL: none */
    uint32_t row_base, row_total; /* rows above those in the scene, total rows */
    /* number of leading rows of the scene that do not scroll; not counted in row_base */
    uint32_t pinned;
    bool colored; /* its events have their relation to the selected one */
    struct tile {
        cairo_surface_t *surface;
        int index; /* in units of TILE_PX, from the scene's left */
        double rise_pt, zoom;
        bool pinned; /* contains only the pinned rows */
        guint64 serial;
    } tiles[TILES];
    unsigned next_tile;
    guint64 serial; /* identifies the scene and its highlights */
};

/* Makes the scene of the window. Returns false if there is none. */
bool scene_cache_build(struct scene_cache *stage, const struct trace_metadata *book,
                       const struct scene_options *options);
void scene_cache_free(struct scene_cache *stage); /* leaves it empty */
/* Discards the tiles, since the appearance of the scene has changed. */
void scene_cache_invalidate(struct scene_cache *stage);
const struct scene_mark *scene_cache_find_mark(const struct scene_cache *stage,
                                               /* returns NULL if it is not in the scene */
                                               struct event_id at);
/* Finds an event, including pending ones; NULL: it is not in the window. */
const struct event_info *scene_cache_find_event(const struct scene_cache *stage,
                                                struct event_id at);

#endif

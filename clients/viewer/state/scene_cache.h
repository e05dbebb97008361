/* The window of placed events that is here, the scene that was made of it, and what is painted of
 * that.
 *
 * It does not know what of the scene is seen: that is the camera's. */
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
    struct scene *scene; /* NULL: there is none */
    uint32_t row_base, row_total; /* rows above those in the scene, rows in all */
    /* the first rows of the scene, which do not scroll; none of row_base is above them */
    uint32_t pinned;
    bool coloured; /* its events know how they stand to the selected one */
    struct tile {
        cairo_surface_t *surface;
        int index; /* of TILE_PX, from the scene's left */
        double rise_pt, zoom;
        bool pinned; /* of the rows that are, alone */
        guint64 serial;
    } tiles[TILES];
    unsigned next_tile;
    guint64 serial; /* of the scene and of all that stands out in it */
};

/* Makes the scene of the window.  False: there is none. */
bool scene_cache_build(struct scene_cache *stage, const struct trace_metadata *book,
                       const struct scene_options *options);
void scene_cache_free(struct scene_cache *stage); /* empties it */
/* The same scene looks different now: its tiles do not fit any more. */
void scene_cache_invalidate(struct scene_cache *stage);
const struct scene_mark *scene_cache_find_mark(const struct scene_cache *stage,
                                               struct event_id at); /* NULL: not there */
/* Of pending ones, too; NULL: it is not here. */
const struct event_info *scene_cache_find_event(const struct scene_cache *stage,
                                                struct event_id at);

#endif

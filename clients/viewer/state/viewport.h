/* What is seen of the scene: the place, and where on the screen things are.
 *
 * Points (_pt) are the scene's, from its left and top; pixels (_px) are the canvas', along the
 * lines (x) and across them (y).  Lines may run down the screen: then along is downwards and
 * across to the right.  From far, where densities are shown instead of marks, they run to the
 * right. */
#ifndef CLIENTS_VIEWER_STATE_VIEWPORT_H
#define CLIENTS_VIEWER_STATE_VIEWPORT_H

#include "clients/connection/view_state.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/state/scene_cache.h"

#define VIEWPORT_GAP_PX 18 /* beside the names: the arrows that scroll a line */
#define VIEWPORT_MIN_ZOOM 0.3 /* below it, densities */
#define VIEWPORT_MAX_ZOOM 6.0
#define VIEWPORT_INITIAL_ZOOM 1.3

/* Where something is to stay on the screen while the picture changes around it
 * (scroll_anchor.h). */
struct scroll_anchor {
    bool active;
    struct event_id event; /* line 0: the position */
    uint64_t position;
    double x_px, y_px; /* y_px < 0: as it is */
};

struct viewport {
    struct view_state place; /* whoever changes it tells NOTIFY_PLACE or NOTIFY_ROWS */
    struct scroll_anchor anchor;
    int width_px, height_px; /* of the canvas, which sets them */
    /* What a pixel of the canvas is on the screen: more where the system's letters are
     * larger.  Whatever stands beside the canvas, or gets the pointer from its widget, reckons
     * with it. */
    double unit_px;
    /* borrowed, filled by the window */
    const struct scene_cache *scene_cache;
    const struct viewer_settings *settings;
    const struct listener *listener;
};

bool viewport_vertical(const struct viewport *camera); /* do lines run down? */
double viewport_along_px(const struct viewport *camera); /* of the canvas, along the lines */
double viewport_across_px(const struct viewport *camera);
double viewport_row_pt(const struct viewport *camera); /* from row to row */
/* So high rows are to be, if there are so many: at most twice as high as they must, if they all
 * fit. */
double viewport_max_row_pt(const struct viewport *camera, uint32_t rows);
double viewport_line_pt(const struct viewport *camera); /* of the line in its row */
/* How wide names and arrows are, left of the columns. */
double viewport_names_px(const struct viewport *camera);
double viewport_height_pt(const struct viewport *camera); /* of all rows */
double viewport_page_pt(
    const struct viewport *camera); /* of the rows that fit the canvas, pinned ones and all */
/* Height of the pinned rows and what is above them; 0: no row is. */
double viewport_band_px(const struct viewport *camera);

double
viewport_left_pt(const struct viewport *camera); /* what is at the left edge of the columns */
void viewport_set_left_pt(struct viewport *camera, double x_pt);
double viewport_width_pt(const struct viewport *camera); /* of the columns seen */
double viewport_run_pt(const struct viewport *camera); /* of all columns that are here */
uint32_t viewport_columns(const struct viewport *camera); /* that fit, about */
/* As near to left_pt as the picture goes: it ends where the run does, and what is not here may
 * lie further on. */
double viewport_clamped_pt(const struct viewport *camera, double left_pt);
/* The left edge with the end of the picture at the right. */
double viewport_end_pt(const struct viewport *camera);
bool viewport_needs_more(const struct viewport *camera); /* will what is here end soon? */

double viewport_x_px(const struct viewport *camera, const struct scene_mark *mark);
double viewport_y_px(const struct viewport *camera, uint32_t row);
bool viewport_sees(const struct viewport *camera, const struct scene_mark *mark);
int viewport_row_at(const struct viewport *camera, double y_px); /* index in the scene; -1: none */
/* NULL: there is none near. */
const struct scene_mark *viewport_hit(const struct viewport *camera, double x_px, double y_px);
const struct scene_link *viewport_hit_link(const struct viewport *camera, double x_px, double y_px);
/* The one nearest to the middle. */
const struct scene_mark *viewport_middle(const struct viewport *camera);
/* The first and the last position of the log that is seen. */
void viewport_positions(const struct viewport *camera, uint64_t *first, uint64_t *last);

/* Placed by time: from when to when the columns are that are seen. */
void viewport_times(const struct viewport *camera, int64_t *from_ns, int64_t *to_ns);

#endif

/* The viewport: the visible part of the scene, and the positions of things on the screen.
 *
 * Points (_pt) are the scene's, from its left and top; pixels (_px) are the canvas's, along the
 * lines (x) and across them (y). Lines may run down the screen: then along is downwards and across
 * is to the right. In the overview, which shows state bands instead of marks, they run to
 * the right.
 *
 * A scroll anchor keeps something in its place on the screen while the diagram changes. */
#ifndef CLIENTS_VIEWER_STATE_VIEWPORT_H
#define CLIENTS_VIEWER_STATE_VIEWPORT_H

#include "clients/connection/view_state.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/viewer_settings.h"

#define VIEWPORT_GAP_PX 18 /* next to the names: the arrows that scroll a line */
#define VIEWPORT_MIN_ZOOM 0.3 /* below it, the overview is shown */
#define VIEWPORT_MAX_ZOOM 6.0
#define VIEWPORT_INITIAL_ZOOM 1.3

/* A place on the screen that something keeps while the diagram changes around it. */
struct scroll_anchor {
    bool active;
    struct event_id event; /* line 0: the position */
    uint64_t position;
    double x_px, y_px; /* y_px < 0: unchanged */
};

struct viewport {
    struct view_state place; /* code that changes it sends NOTIFY_PLACE or NOTIFY_ROWS */
    struct scroll_anchor anchor;
    int width_px, height_px; /* of the canvas, which sets them */
    /* Screen pixels per canvas pixel: more if the system's text size is larger. Code for widgets
     * next to the canvas, or for pointer events of its widget, must take it into account. */
    double unit_px;
    /* borrowed, set by the window */
    const struct scene_cache *scene_cache;
    const struct viewer_settings *settings;
    const struct notifier *notifier;
};

bool viewport_vertical(const struct viewport *camera); /* whether lines run down */
double viewport_along_px(const struct viewport *camera); /* of the canvas, along the lines */
double viewport_across_px(const struct viewport *camera);
double viewport_row_pt(const struct viewport *camera); /* distance of rows */
/* Returns the height of `rows` rows: up to twice the minimum, if they all fit. */
double viewport_max_row_pt(const struct viewport *camera, uint32_t rows);
double viewport_line_pt(const struct viewport *camera); /* of the line in its row */
/* Returns the width of names and arrows, left of the columns. */
double viewport_names_px(const struct viewport *camera);
double viewport_height_pt(const struct viewport *camera); /* of all rows */
double viewport_page_pt(
    const struct viewport *camera); /* of the rows that fit the canvas, including pinned ones */
/* Returns the height of the pinned rows and what is above them; 0: no row is pinned. */
double viewport_band_px(const struct viewport *camera);

double viewport_left_pt(const struct viewport *camera); /* at the left edge of the columns */
void viewport_set_left_pt(struct viewport *camera, double x_pt);
double viewport_width_pt(const struct viewport *camera); /* of the visible columns */
double viewport_run_pt(const struct viewport *camera); /* of all columns of the window */
uint32_t viewport_columns(const struct viewport *camera); /* that fit, approximately */
/* Returns the nearest possible left edge to left_pt: the diagram ends where the run does, and there
 * may be more outside the window. */
double viewport_clamped_pt(const struct viewport *camera, double left_pt);
/* Returns the left edge that puts the end of the diagram at the right. */
double viewport_end_pt(const struct viewport *camera);
bool viewport_needs_more(const struct viewport *camera); /* whether the end of the window is near */

double viewport_x_px(const struct viewport *camera, const struct scene_mark *mark);
double viewport_y_px(const struct viewport *camera, uint32_t row);
bool viewport_sees(const struct viewport *camera, const struct scene_mark *mark);
int viewport_row_at(const struct viewport *camera, double y_px); /* index in the scene; -1: none */
/* Returns NULL if there is none near. */
const struct scene_mark *viewport_hit(const struct viewport *camera, double x_px, double y_px);
const struct scene_link *viewport_hit_link(const struct viewport *camera, double x_px, double y_px);
/* Returns the one nearest to the middle. */
const struct scene_mark *viewport_middle(const struct viewport *camera);
/* Gets the first and the last visible position of the log. */
void viewport_positions(const struct viewport *camera, uint64_t *first, uint64_t *last);

/* Gets the time range of the visible columns, if placed by time. */
void viewport_times(const struct viewport *camera, int64_t *from_ns, int64_t *to_ns);

/* ---- scroll anchoring ---- */

/* These change the view state such that something keeps its place on the screen, or gets a given
 * one. An anchor takes effect when the requested window has arrived. */

/* Keeps the view in place as the run grows. */
void scroll_anchor_leave_follow(struct viewport *camera);
/* Drops the moves of single lines. */
void scroll_anchor_forget_moves(struct view_state *place);
/* Centers the event; position: of the event in the log, or NO_POSITION. */
void scroll_anchor_set_event(struct viewport *camera, struct event_id event, uint64_t position);
void scroll_anchor_set_position(struct viewport *camera, uint64_t position);
void scroll_anchor_set_time(struct viewport *camera, int64_t ns);
/* Keeps the selected event, or what is in the middle, in place during the next change of the
 * diagram. */
void scroll_anchor_keep_selected(struct viewport *camera);
/* Applies the anchor, and follows the end: call when a window has arrived. */
void scroll_anchor_settle(struct viewport *camera);

#endif

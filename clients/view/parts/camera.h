/* What is seen of the scene: the place, and where on the screen things are.
 *
 * Points (_pt) are the scene's, from its left and top; pixels (_px) are the canvas', along the
 * lines (x) and across them (y).  Lines may run down the screen: then along is downwards and
 * across to the right.  From far, where densities are shown instead of marks, they run to the
 * right. */
#ifndef CLIENTS_VIEW_PARTS_CAMERA_H
#define CLIENTS_VIEW_PARTS_CAMERA_H

#include "clients/source/place.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/settings.h"
#include "clients/view/parts/stage.h"

#define CAMERA_GAP_PX 18 /* beside the names: the arrows that scroll a line */
#define CAMERA_ZOOM_LEAST 0.3 /* below it, densities */
#define CAMERA_ZOOM_MOST 6.0
#define CAMERA_ZOOM_FIRST 1.3

/* Where something is to stay on the screen while the picture changes around it (hold.h). */
struct hold {
    bool active;
    struct ref event; /* line 0: the position */
    uint64_t position;
    double x_px, y_px; /* y_px < 0: as it is */
};

struct camera {
    struct place place; /* whoever changes it tells NEWS_PLACE or NEWS_ROWS */
    struct hold hold;
    int width_px, height_px; /* of the canvas, which sets them */
    /* What a pixel of the canvas is on the screen: more where the system's letters are
     * larger.  Whatever stands beside the canvas, or gets the pointer from its widget, reckons
     * with it. */
    double unit_px;
    /* borrowed, filled by the window */
    const struct stage *stage;
    const struct settings *settings;
    const struct listener *news;
};

bool camera_vertical(const struct camera *camera); /* do lines run down? */
double camera_along_px(const struct camera *camera);  /* of the canvas, along the lines */
double camera_across_px(const struct camera *camera);
double camera_row_pt(const struct camera *camera);  /* from row to row */
/* So high rows are to be, if there are so many: at most twice as high as they must, if they all fit. */
double camera_good_row_pt(const struct camera *camera, uint32_t rows);
double camera_line_pt(const struct camera *camera); /* of the line in its row */
/* How wide names and arrows are, left of the columns. */
double camera_names_px(const struct camera *camera);
double camera_height_pt(const struct camera *camera); /* of all rows */
double camera_page_pt(
    const struct camera *camera); /* of the rows that fit the canvas, pinned ones and all */
/* Height of the pinned rows and what is above them; 0: no row is. */
double camera_band_px(const struct camera *camera);

double camera_left_pt(const struct camera *camera); /* what is at the left edge of the columns */
void camera_set_left_pt(struct camera *camera, double x_pt);
double camera_width_pt(const struct camera *camera); /* of the columns seen */
double camera_run_pt(const struct camera *camera); /* of all columns that are here */
uint32_t camera_columns(const struct camera *camera); /* that fit, about */
/* As near to left_pt as the picture goes: it ends where the run does, and what is not here may
 * lie further on. */
double camera_clamped_pt(const struct camera *camera, double left_pt);
/* The left edge with the end of the picture at the right. */
double camera_end_pt(const struct camera *camera);
bool camera_needs_more(const struct camera *camera); /* will what is here end soon? */

double camera_x_px(const struct camera *camera, const struct scene_mark *mark);
double camera_y_px(const struct camera *camera, uint32_t row);
bool camera_sees(const struct camera *camera, const struct scene_mark *mark);
int camera_row_at(const struct camera *camera, double y_px); /* index in the scene; -1: none */
/* NULL: there is none near. */
const struct scene_mark *camera_hit(const struct camera *camera, double x_px, double y_px);
const struct scene_link *camera_hit_link(const struct camera *camera, double x_px, double y_px);
/* The one nearest to the middle. */
const struct scene_mark *camera_middle(const struct camera *camera);
/* The first and the last position of the log that is seen. */
void camera_positions(const struct camera *camera, uint64_t *first, uint64_t *last);

/* Placed by time: from when to when the columns are that are seen. */
void camera_times(const struct camera *camera, int64_t *from_ns, int64_t *to_ns);

#endif

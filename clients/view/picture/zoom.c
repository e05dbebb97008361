#include "clients/view/picture/zoom.h"

#include "clients/source/place.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/stage.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"

/* All of the run is here, and of its rows: a zoom that shows it, and no emptiness beyond it.  0: more lies further on. */
static double zoom_of_all(const struct view *view)
{
    const struct scene *s = view->stage.scene;
    const struct shown_window *w = &view->stage.window;
    if (!s || !s->column_count || w->more_left || w->more_right)
        return 0;
    double across = camera_across_px(&view->camera), high = camera_height_pt(&view->camera),
           along = camera_along_px(&view->camera) - camera_names_px(&view->camera);
    return MIN(across / MAX(high, 1), along / MAX(camera_run_pt(&view->camera), 1));
}

/* Zooming out ends where the whole run is seen.  1: it does already. */
static double stopped(const struct view *view, double factor)
{
    double all = zoom_of_all(view), zoom = view->camera.place.zoom;
    return factor < 1 && all > zoom * factor ? MIN(all / zoom, 1) : factor;
}

void zoom_by(struct view *view, double factor, double x_px, double y_px)
{
    struct place *p = &view->camera.place;
    double names = camera_names_px(&view->camera), width = camera_along_px(&view->camera) - names;
    if (x_px < names) {
        const struct scene_mark *m = stage_mark(&view->stage, p->selected);
        x_px =
            m && camera_sees(&view->camera, m) ? camera_x_px(&view->camera, m) : names + width / 2;
        y_px = camera_across_px(&view->camera) / 2.0;
    }
    if (p->far) {
        history_mark(&view->history, "zoom");
        far_zoom(view, factor, x_px);
        return;
    }
    factor = stopped(view, factor);
    if (factor == 1)
        return;
    history_mark(&view->history, "zoom");
    double at = camera_left_pt(&view->camera) + (x_px - names) / p->zoom,
           y = p->rise_pt + y_px / p->zoom;
    if (p->zoom * factor < CAMERA_ZOOM_LEAST) {
        far_enter(view);
        return;
    }
    p->zoom = CLAMP(p->zoom * factor, CAMERA_ZOOM_LEAST, CAMERA_ZOOM_MOST);
    if (view->stage.scene && !p->follow)
        camera_set_left_pt(
            &view->camera,
            camera_clamped_pt(&view->camera,
                              at - (x_px - camera_names_px(&view->camera)) / p->zoom));
    p->rise_pt = MAX(0, y - y_px / p->zoom);
    bar_update(view);
    news_tell(&view->news, NEWS_LOOK);
    news_tell(&view->news, NEWS_PLACE);
}

void zoom_fit(struct view *view)
{
    struct place *p = &view->camera.place;
    history_mark(&view->history, "fit");
    hold_leave_follow(&view->camera);
    p->far = true;
    p->far_from = p->far_to = 0; /* all of it */
    far_ask(view);
    news_tell(&view->news, NEWS_SWITCHES);
}

void zoom_reset(struct view *view)
{
    if (view->camera.place.far) {
        view->camera.place.zoom = CAMERA_ZOOM_FIRST;
        jump_to_position(view, far_position(view, camera_along_px(&view->camera) / 2.0));
    } else {
        zoom_by(view, CAMERA_ZOOM_FIRST / view->camera.place.zoom, -1, -1);
    }
}

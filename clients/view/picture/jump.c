#include "clients/view/picture/jump.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/stage.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/scroll.h"
#include "clients/view/picture/select.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"

#define AROUND_PX 60 /* a selected event is kept so far from the edges */

static void reveal(struct view *view, const struct scene_mark *m)
{
    double names = camera_names_px(&view->camera), width = camera_along_px(&view->camera),
           height = camera_across_px(&view->camera);
    double x = camera_x_px(&view->camera, m), y = camera_y_px(&view->camera, m->row), to = x;
    double room = MIN(AROUND_PX, (width - names) / 4);
    if (x < names + room)
        to = names + room;
    else if (x > width - room)
        to = width - room;
    if (to != x)
        scroll_to(view, camera_left_pt(&view->camera) + (x - to) / view->camera.place.zoom);
    double least = camera_band_px(&view->camera);
    if (m->row >= view->stage.pinned && (y < least + 10 || y > height - 10))
        bar_to(view,
               view->camera.place.rise_pt + (y - (least + height) / 2) / view->camera.place.zoom);
}

static void go(struct view *view, struct ref at, uint64_t position, bool centre)
{
    const struct scene_mark *m = view->camera.place.far ? NULL : stage_mark(&view->stage, at);
    bool stays = m && (!centre || camera_sees(&view->camera, m));
    view->picture.leaving = !stays;
    select_event(view, at, false);
    if (stays) {
        reveal(view, m);
        return;
    }
    hold_event(&view->camera, at, position);
    news_tell(&view->news, NEWS_PLACE);
    news_tell(&view->news, NEWS_SWITCHES);
}

void jump_to_event(struct view *view, struct ref at, uint64_t position)
{
    history_mark(&view->history, "jump");
    go(view, at, position, true);
}

void jump_to_position(struct view *view, uint64_t position)
{
    history_mark(&view->history, "position");
    hold_position(&view->camera, position);
    news_tell(&view->news, NEWS_PLACE);
    news_tell(&view->news, NEWS_SWITCHES);
}

void jump_to_time(struct view *view, int64_t ns)
{
    history_mark(&view->history, "time");
    hold_time(&view->camera, ns);
    news_tell(&view->news, NEWS_PLACE);
}

void jump_beside(struct view *view, struct ref at, uint64_t position)
{
    go(view, at, position, false);
}

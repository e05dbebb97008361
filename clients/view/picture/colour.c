#include "clients/view/picture/colour.h"

#include "clients/source/place.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "clients/view/picture/view.h"

static void go_on(struct view *view);

static void take_stands(void *user, const struct answer *answer)
{
    struct view *view = user;
    stands_take(&view->colour.stands, answer);
    if (answer->last && !answer->in->error)
        go_on(view);
}

static void go_on(struct view *view)
{
    struct colour *colour = &view->colour;
    struct out body = {0};
    if (stands_ask(&colour->stands, view->camera.place.selected, &body)) {
        inquiry_ask(&view->link, &colour->standing, ASK_STANDS, &body, take_stands, view);
        return;
    }
    view->stage.coloured = true;
    news_tell(&view->news, NEWS_LOOK);
    news_tell(&view->news, NEWS_STANDS);
}

void colour_ask(struct view *view)
{
    const struct place *p = &view->camera.place;
    if (!view->link.connected || !view->stage.scene || !p->selected.line || !p->stands)
        return;
    view->colour.stands = (struct stands){&view->stage.window, 0};
    go_on(view);
}

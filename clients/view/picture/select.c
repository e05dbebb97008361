#include "clients/view/picture/select.h"

#include "clients/source/place.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/ties.h"
#include "clients/view/picture/colour.h"
#include "clients/view/picture/view.h"

void select_silently(struct view *view, struct ref at, bool second)
{
    struct place *p = &view->camera.place;
    if (second)
        p->second = at;
    else
        p->selected = at;
    if (!second)
        p->second = (struct ref){0, 0};
    ties_clear(&view->ties);
    view->stage.coloured = false;
    news_tell(&view->news, NEWS_LOOK);
    news_tell(&view->news, NEWS_SELECTED);
    ties_count(&view->ties, view->camera.place.selected, false);
    ties_ask(&view->ties, view->camera.place.selected, view->camera.place.second);
    if (!at.line)
        return;
    colour_ask(view);
}

void select_event(struct view *view, struct ref at, bool second)
{
    struct place *p = &view->camera.place;
    second = second && p->selected.line;
    if (second ? ref_equal(p->second, at) : ref_equal(p->selected, at) && !p->second.line)
        return;
    history_mark(&view->history, "select");
    select_silently(view, at, second);
}

void select_restored(struct view *view)
{
    const struct place *p = &view->camera.place;
    view->camera.hold.active = false;
    ties_clear(&view->ties);
    news_tell(&view->news, NEWS_LOOK);
    news_tell(&view->news, NEWS_PLACE);
    ties_count(&view->ties, p->selected, false);
    ties_ask(&view->ties, p->selected, p->second);
    news_tell(&view->news, NEWS_SELECTED);
    news_tell(&view->news, NEWS_SETTINGS);
    news_tell(&view->news, NEWS_SWITCHES);
}

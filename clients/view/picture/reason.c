#include "clients/view/picture/reason.h"

#include "clients/source/sentence.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>

/* Of larger runs nobody who only clicks asks for what takes a look at all of it, but for who has opened the drawer. */
#define EVENTS_MOST 1000000u

struct reason {
    struct tabled why;
    struct ref of, cause; /* of: the event that was asked about; line 0: none */
    char *said; /* NULL: not known (yet) */
    bool goes; /* to the cause, once it is known */
};

static void go(struct view *view, struct reason *r)
{
    r->goes = false;
    if (r->cause.line)
        jump_to_event(view, r->cause, NO_POSITION);
    else
        status_say(&view->status, "Nothing that is recorded ended this wait");
}

static void on_told(void *user)
{
    struct view *view = user;
    struct reason *r = view->reason;
    struct table_names names = {the_book(view), view->link.sites};
    if (!r->why.fresh)
        return;
    r->why.fresh = false;
    free(r->said);
    r->said = r->why.table.problem ? NULL : sentence_of_wait(&names, &r->why.table, &r->cause);
    news_tell(&view->news, NEWS_REASON);
    if (r->goes)
        go(view, r);
}

static struct reason *reason_of(struct view *view)
{
    if (!view->reason) {
        view->reason = g_new0(struct reason, 1);
        view->reason->why = (struct tabled){.link = &view->link, .told = on_told, .user = view};
    }
    return view->reason;
}

static void forget(struct view *view)
{
    struct reason *r = reason_of(view);
    tabled_clear(&r->why);
    free(r->said);
    r->said = NULL;
    r->goes = false;
    r->of = r->cause = (struct ref){0};
}

void reason_ask(struct view *view, struct ref at)
{
    struct reason *r = reason_of(view);
    if (ref_equal(r->of, at) && at.line)
        return;
    forget(view);
    r->of = at;
    if (at.line && view->link.connected && view->link.has_run) {
        char event[48];
        struct table_request request = tabled_request("why", "");
        ref_print(event, sizeof event, at);
        tabled_option(&request, "event", event);
        tabled_ask(&r->why, &request);
    }
    news_tell(&view->news, NEWS_REASON);
}

const char *reason_said(const struct view *view, const struct ref *at)
{
    const struct reason *r = view->reason;
    return r && (!at || ref_equal(*at, r->of)) ? r->said : NULL;
}

void reason_go(struct view *view)
{
    struct reason *r = reason_of(view);
    if (!r->of.line)
        status_say(&view->status, "Select a wait first");
    else if (r->said)
        go(view, r);
    else
        r->goes = true;
}

void reason_take(struct view *view, enum news news)
{
    struct ref at = view->camera.place.selected;
    if ((news != NEWS_SELECTED && news != NEWS_PICTURE) || !at.line)
        return;
    const struct shown_event *e = stage_event(&view->stage, at);
    bool may = view->settings.drawer || view->link.count <= EVENTS_MOST;
    if (e && e->waited_ns > 0 && may)
        reason_ask(view, at);
}

void reason_clear(struct view *view)
{
    forget(view);
    news_tell(&view->news, NEWS_REASON);
}

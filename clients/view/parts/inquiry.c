#include "clients/view/parts/inquiry.h"

#include "clients/view/parts/link.h"
#include "wire/placed.h"

#include <stdlib.h>

void inquiry_ask(struct link *link, struct inquiry *inquiry, enum ask what, struct out *body,
                 source_take *take, void *user)
{
    inquiry_cancel(link, inquiry);
    inquiry->id = link_ask(link, what, body, take, user);
}

bool inquiry_runs(const struct link *link, const struct inquiry *inquiry)
{
    return link->connected && source_asks(&link->source, inquiry->id);
}

bool inquiry_may(struct link *link, struct inquiry *inquiry)
{
    inquiry->again = inquiry_runs(link, inquiry);
    return !inquiry->again && link->connected && link->has_run;
}

bool inquiry_again(struct inquiry *inquiry, const struct answer *answer)
{
    bool again = answer->last && inquiry->again;
    inquiry->again &= !again;
    return again;
}

void inquiry_cancel(struct link *link, struct inquiry *inquiry)
{
    if (inquiry_runs(link, inquiry))
        source_cancel(&link->source, inquiry->id);
    *inquiry = (struct inquiry){0};
}

/* ---- windows ---- */

void inquiry_window(struct link *link, struct inquiry *inquiry, struct window_request *request,
                    source_take *take, void *user)
{
    struct out body = {0};
    put_window_request(&body, request);
    free(request->rows);
    free(request->joined);
    inquiry_ask(link, inquiry, ASK_WINDOW, &body, take, user);
}

bool inquiry_window_read(const struct answer *answer, struct shown_window *window)
{
    if (answer->part != PART_WINDOW)
        return false;
    get_window(answer->in, window);
    if (in_done(answer->in))
        return true;
    shown_window_free(window);
    return false;
}

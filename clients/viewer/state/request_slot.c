#include "clients/viewer/state/request_slot.h"

#include "clients/viewer/state/server_link.h"
#include "wire/layout_results.h"

#include <stdlib.h>

void request_slot_send(struct server_link *link, struct request_slot *inquiry,
                       enum request_type what, struct encoder *body, source_take *take, void *user)
{
    request_slot_cancel(link, inquiry);
    inquiry->id = server_link_request(link, what, body, take, user);
}

bool request_slot_is_running(const struct server_link *link, const struct request_slot *inquiry)
{
    return link->connected && session_request_is_open(&link->source, inquiry->id);
}

bool request_slot_try_acquire(struct server_link *link, struct request_slot *inquiry)
{
    inquiry->again = request_slot_is_running(link, inquiry);
    return !inquiry->again && link->connected && link->has_run;
}

bool request_slot_resend_needed(struct request_slot *inquiry, const struct response_chunk *answer)
{
    bool again = answer->last && inquiry->again;
    inquiry->again &= !again;
    return again;
}

void request_slot_cancel(struct server_link *link, struct request_slot *inquiry)
{
    if (request_slot_is_running(link, inquiry))
        session_cancel_request(&link->source, inquiry->id);
    *inquiry = (struct request_slot){0};
}

/* ---- windows ---- */

void request_slot_request_window(struct server_link *link, struct request_slot *inquiry,
                                 struct window_request *request, source_take *take, void *user)
{
    struct encoder body = {0};
    encode_window_request(&body, request);
    free(request->rows);
    free(request->joined);
    request_slot_send(link, inquiry, REQUEST_WINDOW, &body, take, user);
}

bool request_slot_read_window(const struct response_chunk *answer, struct window_info *window)
{
    if (answer->part != RESPONSE_WINDOW)
        return false;
    decode_window(answer->in, window);
    if (decoder_finish(answer->in))
        return true;
    window_info_free(window);
    return false;
}

/* A question of which one is under way at a time, kept by the part of the viewer that asks it.
 *
 * `again`: another was wished for meanwhile; the newest wish is asked when the answer is here.
 * Zeroed: never asked. */
#ifndef CLIENTS_VIEW_PARTS_INQUIRY_H
#define CLIENTS_VIEW_PARTS_INQUIRY_H

#include "clients/view/parts/link.h"
#include "wire/asked.h"
#include "wire/placed.h"
#include "wire/shown.h"

struct inquiry {
    uint32_t id;
    bool again;
};

/* Asks; frees body.  One that is under way is not wanted any more.  The answer goes to `take`,
 * with `user`. */
void inquiry_ask(struct link *link, struct inquiry *inquiry, enum ask what, struct out *body,
                 source_take *take, void *user);
bool inquiry_runs(const struct link *link, const struct inquiry *inquiry); /* is it under way? */
/* May it be asked now?  If it is under way it is asked again afterwards: inquiry_again says so,
 * once. */
bool inquiry_may(struct link *link, struct inquiry *inquiry);
bool inquiry_again(struct inquiry *inquiry, const struct answer *answer);
void inquiry_cancel(struct link *link, struct inquiry *inquiry);

/* Asks for a window; frees what request has of its own. */
void inquiry_window(struct link *link, struct inquiry *inquiry, struct window_request *request,
                    source_take *take, void *user);
/* A part of its answer.  False: there is no window in it. */
bool inquiry_window_read(const struct answer *answer, struct shown_window *window);

#endif

/* A question of which one is under way at a time, asked by the part of the viewer that it belongs to (ask.c). */
#ifndef CLIENTS_VIEW_INQUIRY_H
#define CLIENTS_VIEW_INQUIRY_H

#include "clients/source/source.h"

struct view;

/* `again`: another was wished for meanwhile; the newest wish is asked when the answer is here.  Zeroed: never
 * asked. */
struct inquiry {
    uint32_t id;
    bool again;
};

/* Asks, with the view as user; frees body.  One that is under way is not wanted any more. */
void inquiry_ask(struct view *view, struct inquiry *inquiry, enum ask what, struct out *body,
                 source_take *take);
bool inquiry_runs(const struct view *view, const struct inquiry *inquiry); /* is it under way? */
/* May it be asked now?  If it is under way it is asked again afterwards: inquiry_again says so, once. */
bool inquiry_may(struct view *view, struct inquiry *inquiry);
bool inquiry_again(struct inquiry *inquiry, const struct answer *answer);
void inquiry_cancel(struct view *view, struct inquiry *inquiry);

#endif

/* How the events of a window stand to one of them: asked for in questions of bounded size. */
#ifndef CLIENTS_SOURCE_STANDS_H
#define CLIENTS_SOURCE_STANDS_H

#include "wire/ask.h"
#include "wire/asked.h"
#include "wire/placed.h"
#include "wire/shown.h"

struct stands {
    struct shown_window *window; /* not ours; its events learn it */
    uint32_t at;                 /* those before it did */
};

/* Appends the body of the next STANDS question; false when all is known. */
bool stands_ask(const struct stands *stands, struct ref about, struct out *body);
/* Takes a part of its answer.  What the server did not answer stays not known. */
void stands_take(struct stands *stands, const struct answer *answer);

#endif

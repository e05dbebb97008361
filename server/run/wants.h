/* What viewers want the programs of a run to measure, until it is passed on to them. */
#ifndef SERVER_RUN_WANTS_H
#define SERVER_RUN_WANTS_H

#include "wire/asked.h"

#include <stddef.h>

/* Zero-initialised: nothing. */
struct wants {
    struct want_request *items; /* in the order in which they were asked for */
    size_t count, room;
    uint32_t mask, bits; /* of threads that come later */
    bool chosen; /* somebody did so */
};

#define WANTS_MOST 64u /* that wait to be passed on */

/* Takes the request, and what is in it; false: there are too many, and it is freed. */
bool wants_add(struct wants *wants, struct want_request *request);
void wants_passed(struct wants *wants); /* all of them are */
void wants_free(struct wants *wants); /* empties it */

#endif

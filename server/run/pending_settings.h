/* Measurement settings that viewers requested for the programs of a run, until they are sent to
 * the programs. */
#ifndef SERVER_RUN_PENDING_SETTINGS_H
#define SERVER_RUN_PENDING_SETTINGS_H

#include "wire/request_body.h"

#include <stddef.h>

/* Zero-initialised: nothing. */
struct pending_settings {
    struct measurement_request *items; /* in the order of the requests */
    size_t count, room;
    uint32_t mask, bits; /* of threads that come later */
    bool chosen; /* a viewer did so */
};

#define PENDING_SETTINGS_MAX 64u /* that wait to be passed on */

/* Takes the request, and what is in it; false: there are too many, and it is freed. */
bool pending_settings_add(struct pending_settings *wants, struct measurement_request *request);
void pending_settings_applied(struct pending_settings *wants); /* all of them are */
void pending_settings_free(struct pending_settings *wants); /* empties it */

#endif

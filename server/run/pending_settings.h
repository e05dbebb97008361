/* Measurement settings that viewers requested for the programs of a run, until they are sent to
 * the programs. */
#ifndef SERVER_RUN_PENDING_SETTINGS_H
#define SERVER_RUN_PENDING_SETTINGS_H

#include "wire/request_body.h"

#include <stddef.h>

/* A zero-initialized struct is empty. */
struct pending_settings {
    struct measurement_request *items; /* in the order of the requests */
    size_t count, room;
    uint32_t mask, bits; /* settings of threads that are created later */
    bool chosen; /* a viewer set them */
};

#define PENDING_SETTINGS_MAX 64u /* maximum number of pending requests */

/* Takes ownership of the request and its contents; returns false, and frees it, if there are too
 * many. */
bool pending_settings_add(struct pending_settings *wants, struct measurement_request *request);
void pending_settings_applied(struct pending_settings *wants); /* all requests were sent */
void pending_settings_free(struct pending_settings *wants); /* empties it */

#endif

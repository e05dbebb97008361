/* Texts for events: the one place for their wording. */
#ifndef CLIENTS_METADATA_EVENT_TEXT_H
#define CLIENTS_METADATA_EVENT_TEXT_H

#include "clients/metadata/trace_metadata.h"
#include "wire/query_results.h"

/* Returns "T:main: create (1:3) about T:worker, simultaneous with 2:1 T:worker “a text”". The
 * caller frees it. */
char *event_text(const struct trace_metadata *book, const struct event_info *event);

/* Returns "(pending: partner event missing)", with a space before it, or "". */
const char *state_text(const struct event_info *event);

/* "T:main", "waits for", "M:m": thread, action, object. Valid until the metadata changes. */
struct event_text {
    const char *thread, *does, *about;
};
struct event_text wait_text(const struct trace_metadata *book, const struct wait_info *wait);

#endif

/* Reader of traces in the trace-event format (JSON), as Chrome, Perfetto and many profilers write
 * it, into events with causes.
 *
 * A track, the slices of one thread, is a host. Begins and ends of slices, instants and the points
 * of flows are its events, in the order of their times; a flow is a message. Counters, samples and
 * objects are not in the order: the reader counts them, and leaves them out. */
#ifndef CLIENTS_CLI_CHROME_LOG_H
#define CLIENTS_CLI_CHROME_LOG_H

#include "clients/cli/shiviz_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of events, as indexes of chrome_log_types. */
enum chrome_log_type {
    CHROME_LOG_INSTANT,
    CHROME_LOG_SEND,
    CHROME_LOG_RECEIVE,
    CHROME_LOG_RELAY,
    CHROME_LOG_BEGIN,
    CHROME_LOG_END,
    CHROME_LOG_TYPES
};
extern const char *const chrome_log_types[CHROME_LOG_TYPES];

struct chrome_log {
    struct shiviz_log log; /* its times are in ns; shiviz_free_log() frees it */
    uint8_t *types; /* by event: an enum chrome_log_type */
    uint64_t skipped; /* counters, samples and other objects without a place in an order */
    uint64_t invalid; /* objects without a time, a track or a name of a kind */
    uint64_t loose; /* ends of slices without a begin, and of flows without one */
};

/* Reads a text, which may lack its last bracket. Returns false with the reason in *error, which
 * begins with the name of the file; the caller frees the log in any case. */
bool chrome_log_read(const char *file, const char *text, size_t size, struct chrome_log *log,
                     char *error, size_t error_size);
void chrome_log_free(struct chrome_log *log);

#endif

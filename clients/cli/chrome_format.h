/* The trace-event format, which Perfetto opens.
 *
 * Each line is a track. The activities of its thread are nested slices (thread_slices.h) in one
 * that lasts as long as the line has events; every event is an instant, and an edge is a flow. A
 * flow binds to the slice around its end, so there is always one. Individually recorded calls have
 * tracks of their own (chrome_calls.h). */
#ifndef CLIENTS_CLI_CHROME_FORMAT_H
#define CLIENTS_CLI_CHROME_FORMAT_H

#include "clients/cli/order_formats.h"

/* The three functions of a format, see clients/cli/order_formats.h. */
void chrome_begin(struct order_format *format, struct command_source *subject, FILE *f);
void chrome_event(struct order_format *format, struct event_info *event);
void chrome_end(struct order_format *format);

#endif

/* Journal reader: delivers captured chunks to the order, chunk by chunk in the order of the
 * journal, as a later reader of the file does, and ends its waiting for streams without a reported
 * other end; if this server is an agent, it forwards the chunks instead. */
#ifndef SERVER_CONNECTIONS_JOURNAL_READER_H
#define SERVER_CONNECTIONS_JOURNAL_READER_H

#include "server/eventloop/event_loop.h"

#include <stdbool.h>
#include <stddef.h>

struct run;
struct server;

/* Delivers the captured chunks of all runs; little: the share for runs that should save first.
 * Returns true if nothing is left to do. */
bool journal_reader_step(struct server *server, struct loop_share share, struct loop_share little);
/* Delivers everything of one run; returns false if not all was delivered or processed within the
 * share. */
bool journal_reader_finish(struct server *server, struct run *run, struct loop_share share);
/* Returns whether nothing of the run is left to be delivered. */
bool journal_reader_is_done(const struct run *run);
void journal_reader_measure_lag(struct run *run); /* how far the order is behind */

/* ---- forwarding, which replaces delivery in an agent ---- */

/* Forwards captured chunks; returns true if nothing is left to do. */
bool journal_forwarder_step(struct server *server, struct loop_share share);
void journal_forwarder_finish(struct server *server); /* the journals end here */

/* Ends the waits for the other end of a stream between hosts that have timed out, in all runs. */
void stream_timeout_check(struct server *server);

/* ---- merging ---- */

/* Orders journal files of agents as one run, as if they were forwarded now.  Reports its errors;
 * returns false if no run was made. */
bool journal_merge(struct server *server, const char *const *files, size_t count);

#endif

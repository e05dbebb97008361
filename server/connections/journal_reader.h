/* Journal reader: delivers captured chunks to the order, chunk by chunk in the order of the
 * journal, as a later reader of the file does. */
#ifndef SERVER_CONNECTIONS_JOURNAL_READER_H
#define SERVER_CONNECTIONS_JOURNAL_READER_H

#include "server/eventloop/loop_turn.h"

#include <stdbool.h>

struct run;
struct server;

/* Delivers the captured chunks of all runs; little: the share for runs that should save first.
 * Returns true if nothing is left to do. */
bool journal_reader_step(struct server *server, struct loop_share share, struct loop_share little);
/* Delivers everything of one run; returns false if not all was delivered or processed within the
 * share. */
bool journal_reader_finish(struct server *server, struct run *run, struct loop_share share);
bool journal_reader_is_done(const struct run *run);
void journal_reader_measure_lag(struct run *run); /* how far the order is behind */

#endif

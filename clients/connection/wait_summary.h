/* A wait in one sentence: which threads it waited for, how long, and what they did meanwhile. */
#ifndef CLIENTS_CONNECTION_WAIT_SUMMARY_H
#define CLIENTS_CONNECTION_WAIT_SUMMARY_H

#include "clients/connection/result_table.h"

/* Returns, from the table `why`, "waited 45.0 ms for T:rank 2: main (ring.c:12) → thread end 24.0
 * ms, ...; since 1:1 at 1.250 ms, when one made the other, in main (ring.c:9); it waited in main
 * (ring.c:14)". *cause: the event that unblocked it, line 0: none. New memory; NULL if it is not a
 * wait. */
char *wait_summary_text(const struct table_names *names, const struct result_table *why,
                        struct event_id *cause);

#endif

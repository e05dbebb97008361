/* A wait in one sentence: whom it waited for, how long, and what they did meanwhile. */
#ifndef CLIENTS_CONNECTION_WAIT_SUMMARY_H
#define CLIENTS_CONNECTION_WAIT_SUMMARY_H

#include "clients/connection/result_table.h"

/* "waited 45.0 ms for T:rank 2: main (ring.c:12) → thread end 24.0 ms, ...; since 1:1 at 1.250 ms,
 * when one made the other, in main (ring.c:9); it waited in main (ring.c:14)", of the table `why`.
 * *cause: the event that let it go on, line 0: none.  New memory; NULL: it is no wait. */
char *wait_summary_text(const struct table_names *names, const struct result_table *why,
                        struct event_id *cause);

#endif

/* The lives of the process.
 *
 * A life begins when a server is reached and ends when it is gone: at the start, in a child after
 * its fork, and when a server comes again.  What belongs to an earlier life is told anew or is not
 * there: lines, queues, what threads hold.  `live` counts them from 1; 0: not traced. */
#ifndef CLIENTS_LIBPOET_CORE_LIFECYCLE_H
#define CLIENTS_LIBPOET_CORE_LIFECYCLE_H

#include "clients/libpoet/core/thread.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

uint32_t lifecycle_retry(void); /* looks for a server, at most once a second; the new life or 0 */
struct traced_thread *lifecycle_child(void); /* begins the life of a child; NULL: in vain */
void lifecycle_forked(void); /* in a child whose fork ran no handlers */
void lifecycle_disable(void); /* in a child that has its parent's descriptors: it is not traced */
void lifecycle_forking(uint64_t high,
                       uint64_t low); /* the key of the message to the child; 0, 0 none */

/* At the end of the process: says, once, that so many events were lost, if any, and where to see
 * how many. */
void lifecycle_report_lost(uint64_t lost);

#pragma GCC visibility pop
#endif

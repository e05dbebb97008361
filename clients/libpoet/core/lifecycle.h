/* The lifetimes of the process. A lifetime begins when a server is connected and ends when the
 * connection is lost: at the start, in a child after its fork, and at a reconnection. State of an
 * earlier lifetime is announced again or dropped: lines, queues, held objects. `live` counts
 * lifetimes from 1; 0: not traced. */
#ifndef CLIENTS_LIBPOET_CORE_LIFECYCLE_H
#define CLIENTS_LIBPOET_CORE_LIFECYCLE_H

#include "clients/libpoet/core/thread.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Looks for a server, at most once a second. Returns the new lifetime or 0. */
uint32_t lifecycle_retry(void);
/* Begins the lifetime of a child. Returns NULL if that fails. */
struct traced_thread *lifecycle_child(void);
void lifecycle_forked(void); /* Must be called in a child of a fork that ran no handlers. */
/* Must be called in a child that shares its parent's descriptors: it is not traced. */
void lifecycle_disable(void);
void lifecycle_forking(uint64_t high,
                       uint64_t low); /* the key of the message to the child; 0, 0 none */

/* Reports at the end of the process, once, that `lost` events were lost, if any, and where their
 * count is shown. */
void lifecycle_report_lost(uint64_t lost);

#pragma GCC visibility pop
#endif

/* Reader of a saved run (checkpoint_write.h): its NEWS, a checkpoint, and the position of each
 * thread. */
#ifndef SERVER_CHECKPOINT_CHECKPOINT_READ_H
#define SERVER_CHECKPOINT_CHECKPOINT_READ_H

#include "server/tracefile/chunks.h"

#include <stdbool.h>
#include <stdint.h>

struct run;
struct checkpoint_hangup;

bool checkpoint_read_news(struct run *run, struct chunk news, void (*play)(void *, struct chunk),
                          void *context);
/* `restored` is called once the order is restored; then `hangup` for each session that had hung up
 * before the journal that follows. */
bool checkpoint_read_state(struct run *run, struct chunk state, void (*restored)(void *context),
                           void (*hangup)(void *context, uint32_t session), void *context);
/* Returns the sessions that had hung up by then; the caller frees the array. */
struct checkpoint_hangup *checkpoint_read_hangups(struct chunk state, size_t *count);
void checkpoint_read_threads(struct run *run, struct chunk threads);

/* Bits of numbers in the format. */
#define SITE_IN_FUNCTION                                                                           \
    0x80000000u /* with the process of a site: the calls that led to it follow */
#define THREAD_UNCERTAINTY_SHIFT 28 /* with a thread's session: why its next event is uncertain */

#endif

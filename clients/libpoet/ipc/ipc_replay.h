/* A run that is repeated: which end a call on bytes had then, and when its turn comes. */
#ifndef CLIENTS_LIBPOET_IPC_IPC_REPLAY_H
#define CLIENTS_LIBPOET_IPC_IPC_REPLAY_H

#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/ipc/byte_streams.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

bool ipc_replay_is_active(void); /* the calling thread has a part, and it is not over */
/* Is this thread's next event that one, about that stream (NULL: any)? As of poet_replay_peek: 2
 * perhaps; -1 nothing is repeated. */
int ipc_replay_next_is(enum ipc_event event, const struct ipc_stream *stream);
int ipc_replay_peek(enum ipc_event event, const struct ipc_stream *stream, unsigned ahead);
/* It is about to be told, of that stream: which is that of the script from here on. */
void ipc_replay_commit(enum ipc_event event, const struct ipc_stream *stream);
/* Whether a call is to say that it waits, as it did; now: whether it has to, now. */
bool ipc_replay_must_wait(enum ipc_event event, const struct ipc_stream *stream, bool now);
/* How many bytes the call moved then, `bytes` where that is not known; waits until it may. */
size_t ipc_replay_byte_count(enum ipc_event event, const struct ipc_stream *stream,
                             poet_line_t line, size_t bytes); /* line: the stream's */
/* It found nothing then, and so it does now: a call that would not wait.  Not for longer than a
 * second. */
bool ipc_replay_finds_nothing(const struct ipc_stream *stream);
/* Whether a call that found nothing is made once more, after a millisecond, since it found
 * something then; *tries: from 0 on, a second long. */
bool ipc_replay_retry(bool expected, unsigned *tries);
void ipc_replay_nap(void); /* a millisecond; no cancellation point */

#pragma GCC visibility pop
#endif

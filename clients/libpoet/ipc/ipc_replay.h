/* Replay of calls on bytes: the recorded outcome of a call, and when its turn comes. */
#ifndef CLIENTS_LIBPOET_IPC_IPC_REPLAY_H
#define CLIENTS_LIBPOET_IPC_IPC_REPLAY_H

#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/ipc/byte_streams.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Returns whether the calling thread has a schedule that has not ended. */
bool ipc_replay_is_active(void);
/* Returns whether this thread's next event is that one, with that stream as its object (NULL: any).
 * Results as of poet_replay_peek: 2 possibly; -1 no run is being replayed. */
int ipc_replay_next_is(enum ipc_event event, const struct ipc_stream *stream);
int ipc_replay_peek(enum ipc_event event, const struct ipc_stream *stream, unsigned ahead);
/* The event is about to be recorded; from here on its stream is that of the schedule. */
void ipc_replay_commit(enum ipc_event event, const struct ipc_stream *stream);
/* Returns whether a call must record that it waits, as it did in the recorded run; now: whether it
 * must wait now. */
bool ipc_replay_must_wait(enum ipc_event event, const struct ipc_stream *stream, bool now);
/* Returns how many bytes the recorded call moved, `bytes` if that is not known; waits until it
 * may. line: the stream's. */
size_t ipc_replay_byte_count(enum ipc_event event, const struct ipc_stream *stream,
                             poet_line_t line, size_t bytes);
/* Returns whether a nonblocking call found nothing in the recorded run, and waits, at most a
 * second, until it does so now. */
bool ipc_replay_finds_nothing(const struct ipc_stream *stream);
/* Returns whether a call that found nothing must be repeated, after a millisecond, since it found
 * something in the recorded run; *tries: starts at 0, for a second in total. */
bool ipc_replay_retry(bool expected, unsigned *tries);
void ipc_replay_nap(void); /* Sleeps for a millisecond; not a cancellation point. */

#pragma GCC visibility pop
#endif

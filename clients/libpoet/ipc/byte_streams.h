/* Byte streams: one direction of a pipe or socket, and how far it is written and read, in counters
 * that all processes of the run share; and the replay of calls on them. */
#ifndef CLIENTS_LIBPOET_IPC_BYTE_STREAMS_H
#define CLIENTS_LIBPOET_IPC_BYTE_STREAMS_H

#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum stream_state { STREAM_UNKNOWN, STREAM_FOLLOWED, STREAM_LOST };
struct ipc_stream {
    enum stream_state state;
    uint64_t key;     /* the same in all processes; 0: unknown */
    uint64_t *flags;  /* STREAM_..., writers << 8, readers << 16, generation << 32 */
    uint64_t *written, *claimed, *read; /* bytes; claimed: written, or being written */
    uint64_t *changed; /* when `read` changed last: ns of the monotonic clock */
    uint64_t *event;   /* of the last write: its number << 24 and its line, */
    uint64_t *life;    /* in the process with this identity, */
    uint64_t *begun;   /*   and its first byte */
    /* how often a writing end was closed; << 32: the process that wrote last and has not closed */
    uint64_t *ends;
};
#define STREAM_CREATED 1u
#define STREAM_BROKEN 2u
#define STREAM_LEFT 4u /* a writing end may have been closed without a record */
#define STREAM_PIPE 8u /* without a name */
#define STREAM_PAIR 16u /* of socketpair(2) */
#define STREAM_CONNECTION 32u /* to a listener of the run */
#define STREAM_FIFO 64u
#define STREAM_WRITER (1u << 8)
#define STREAM_READER (1u << 16)
#define STREAM_GENERATION (1ull << 32)

struct ipc_stream stream_find(uint64_t key);
/* Begins again. kind: STREAM_PIPE, STREAM_PAIR, STREAM_CONNECTION, or 0. */
void stream_make(uint64_t key, uint64_t kind);
void stream_open(uint64_t key, bool empty); /* Begins a FIFO, if it has not, and is empty. */
/* Returns the line of a FIFO, which may not have been opened yet. */
poet_line_t stream_fifo_line(uint64_t key, const char *path);
void stream_never(uint64_t key); /* It is used, but was not traced from its beginning. */
/* Begins a call on the stream. Returns false if it is not traced. */
bool stream_enter(struct ipc_stream *stream, uint64_t side);
void stream_leave(struct ipc_stream *stream, uint64_t side);
void stream_break(struct ipc_stream *stream, const char *why);
poet_line_t stream_line(const struct ipc_stream *stream);
void stream_wrote(const struct ipc_stream *stream, poet_event_t event, uint64_t from, size_t bytes);
/* Gets the event of the last write. Returns false if that did not write the byte. */
bool stream_last_write(const struct ipc_stream *stream, uint64_t byte, poet_event_t *event);
void stream_written_by(const struct ipc_stream *stream, uint32_t process);
/* Called before a writing end is closed. */
void stream_shut(const struct ipc_stream *stream, const void *site);
/* A writing end may be closed at an unknown time, or not at all. */
void stream_left(const struct ipc_stream *stream);
/* found: by a read, ENDED; without one, HANGUP */
void stream_ended(const struct ipc_stream *stream, enum ipc_event found, const void *site);

/* ---- replay of calls on bytes: the recorded outcome of a call, and when its turn comes ---- */

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

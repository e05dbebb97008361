/* Streams: one way that bytes take, and how far they are written and read. */
#ifndef CLIENTS_LIBPOET_IPC_BYTE_STREAMS_H
#define CLIENTS_LIBPOET_IPC_BYTE_STREAMS_H

#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/ipc_events.h"

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
    uint64_t *changed; /* when `read` last did: nanoseconds of the monotonic clock */
    uint64_t *event;   /* of the last write: its number << 24 and its line, */
    uint64_t *life;    /*   in the process with this identity, */
    uint64_t *begun;   /*   and its first byte */
    uint64_t *
        ends; /* how often an end was closed that writes; << 32: the process that wrote last, and did
                        * not close */
};
#define STREAM_CREATED 1u
#define STREAM_BROKEN 2u
#define STREAM_LEFT 4u /* an end that writes may have been closed by whom nobody told of it */
#define STREAM_WRITER (1u << 8)
#define STREAM_READER (1u << 16)
#define STREAM_GENERATION (1ull << 32)

struct ipc_stream stream_find(uint64_t key);
void stream_make(uint64_t key); /* begins anew */
void stream_open(uint64_t key, bool empty); /* begins if it did not, and is empty */
void stream_never(uint64_t key); /* it is used, but was not seen from its beginning */
bool stream_enter(struct ipc_stream *stream,
                  uint64_t side); /* a call is under way; false: not followed */
void stream_leave(struct ipc_stream *stream, uint64_t side);
void stream_break(struct ipc_stream *stream, const char *why);
poet_line_t stream_line(const struct ipc_stream *stream);
void stream_wrote(const struct ipc_stream *stream, poet_event_t event, uint64_t from, size_t bytes);
bool stream_last_write(const struct ipc_stream *stream, uint64_t byte,
                       poet_event_t *event); /* if that wrote it */
void stream_written_by(const struct ipc_stream *stream, uint32_t process);
void stream_shut(const struct ipc_stream *stream,
                 const void *site); /* an end that writes is about to close */
void stream_left(
    const struct ipc_stream *stream); /* the same, and it cannot be told when or whether */
void stream_ended(const struct ipc_stream *stream, enum ipc_event found,
                  const void *site); /* found: by a read, ENDED; without one, HANGUP */

#pragma GCC visibility pop
#endif

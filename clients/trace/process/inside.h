/* libpoet-process: what processes, and the threads in them, do with each other through objects of the
 * kernel, told through poet.h: bytes through pipes, FIFOs, socketpairs and loopback TCP, eventfds, POSIX
 * message queues and file locks.  poet record loads it, poetcc -trace -processes links it; it stands before
 * the calls of the C library.
 *
 * A stream is followed only if a traced process made it, and as long as the bytes add up: who wrote which
 * is known by their positions, which are counted in memory that the processes share.  When two write
 * or read at once, or bytes come that no call here has seen, the stream is not followed any more: a text
 * says so, and what is read from then on bears a doubt.  No order is claimed that is not borne out.
 *
 * Every call may be made by a signal handler: no lock is held over a call of the program's, and what is
 * here is not entered by a handler while its thread is here. */
#ifndef CLIENTS_TRACE_PROCESS_INSIDE_H
#define CLIENTS_TRACE_PROCESS_INSIDE_H

#include "poet.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

#define API __attribute__((visibility("default")))
#define SITE __builtin_extract_return_addr(__builtin_return_address(0))
#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)

/* ---- entry.c: which calls are looked at ---- */

extern __thread bool inside __attribute__((tls_model("initial-exec"))); /* the library itself is calling */
bool looks(const void *site); /* whether a call from there is to be looked at; our own are not */
bool is_own_process(void);    /* not a child that shares its memory with its parent (vfork) */
void *next(const char *name); /* the call that we stand before */

/* Done without the program noticing; `saved` is its errno. */
#define QUIETLY(what)                   \
    do {                                \
        int saved = errno;              \
        inside = true;                  \
        what;                           \
        inside = false;                 \
        errno = saved;                  \
    } while (0)

/* A call that is stood before: looked up at the start, or when it is made before that. */
#define REAL(result, name, parameters)                                           \
    static result (*real_##name) parameters;                                     \
    __attribute__((constructor)) static void find_##name(void)                   \
    {                                                                            \
        if (!LOAD(&real_##name))                                                 \
            STORE(&real_##name, (result(*) parameters)(uintptr_t)next(#name));   \
    }

/* ---- events.c ---- */

enum event {
    WRITE, READ, FULL, EMPTY, WOKEN, READABLE, SHUT, ENDED, /* streams */
    ADD, ADDED, TAKE, DRAINED, SEE, SEEN,                   /* eventfds: of the thread, on the line */
    SENT, RECEIVED,                                         /* message queues */
    ASK, DENIED, LOCK, LOCKED, LOCKED_SHARED, UNLOCK, UNLOCKED, UNLOCKED_SHARED, /* file locks */
    EVENTS
};
enum line_kind { LINE_STREAM, LINE_QUEUE, LINE_EVENTFD, LINE_FILELOCK };

poet_type_t event_type(enum event event);
poet_line_t event_line(enum line_kind kind, uint64_t key, const char *name); /* 0: not recorded */
poet_line_t event_line_elsewhere(const uint64_t identity[2]); /* of a thread, perhaps of another process */
void event_about(enum event event, poet_line_t about, unsigned doubt, const void *site);
void event_pair(enum event here, enum event there, poet_line_t line, unsigned doubt, const void *site);
void events_forked(void);

/* ---- streams.c: one way that bytes take ---- */

enum stream_state { STREAM_UNKNOWN, STREAM_FOLLOWED, STREAM_LOST };
struct stream {
    enum stream_state state;
    uint64_t key;     /* the same in all processes; 0: unknown */
    uint64_t *flags;  /* STREAM_..., writers << 8, readers << 16, generation << 32 */
    uint64_t *written, *claimed, *read; /* bytes; claimed: written, or being written */
    uint64_t *changed; /* when `read` last did: nanoseconds of the monotonic clock */
    uint64_t *event;   /* of the last write: its number << 24 and its line, */
    uint64_t *life;    /*   in the process with this identity, */
    uint64_t *begun;   /*   and its first byte */
    uint64_t *ends;    /* how often an end was closed that writes; << 32: the process that wrote last, and did
                        * not close */
};
#define STREAM_BORN 1u
#define STREAM_BROKEN 2u
#define STREAM_LEFT 4u /* an end that writes may have been closed by whom nobody told of it */
#define STREAM_WRITER (1u << 8)
#define STREAM_READER (1u << 16)
#define STREAM_GENERATION (1ull << 32)

struct stream stream_find(uint64_t key);
void stream_make(uint64_t key); /* begins anew */
void stream_open(uint64_t key, bool empty); /* begins if it did not, and is empty */
void stream_never(uint64_t key);            /* it is used, but was not seen from its beginning */
bool stream_enter(struct stream *stream, uint64_t side); /* a call is under way; false: not followed */
void stream_leave(struct stream *stream, uint64_t side);
void stream_break(struct stream *stream, const char *why);
poet_line_t stream_line(const struct stream *stream);
void stream_wrote(const struct stream *stream, poet_event_t event, uint64_t from, size_t bytes);
bool stream_last_write(const struct stream *stream, uint64_t byte, poet_event_t *event); /* if that wrote it */
void stream_written_by(const struct stream *stream, uint32_t process);
uint64_t now_ns(void);
void stream_shut(const struct stream *stream, const void *site);  /* an end that writes is about to close */
void stream_left(const struct stream *stream); /* the same, and it cannot be told when or whether */
void stream_ended(const struct stream *stream, const void *site); /* a read found the end */

/* ---- ends.c: what a descriptor is an end of ---- */

enum end_kind { END_NONE, END_STREAM, END_EVENTFD };
struct end {
    enum end_kind kind;
    uint64_t key;
};
struct end end_find(int fd, bool out);
uint64_t end_of_status(int fd, const struct stat *st, bool out); /* of a stream; 0: none */
bool end_writes(int fd, const struct stat *st); /* its closing may be the end of a stream */
void ends_pipe(const int fds[2]);
void ends_fifo(int fd); /* a file was opened: if it is one */
void ends_socketpair(const int fds[2]);
void ends_listen(int fd);
void ends_connecting(int fd, const struct sockaddr *to, socklen_t size); /* before, */
void ends_connected(int fd, const struct sockaddr *to, bool done); /* and after */
void ends_accepted(int listener, int fd);

bool cookie_of(int fd, uint64_t *cookie); /* of a socket: no other has it */

uint64_t mix(uint64_t a, uint64_t b);

/* ---- named.c: Unix sockets by name ---- */

uint64_t named_end(uint64_t cookie, bool out); /* the stream; 0: none */
void named_listen(const struct sockaddr *at, socklen_t size);
void named_connecting(int fd, const struct sockaddr *to, socklen_t size);
void named_accepted(const struct sockaddr *at, socklen_t size, int fd);

/* ---- counts.c: eventfds ---- */

uint64_t count_key(int fd); /* 0: none that was seen from its beginning */
void count_made(int fd);
void count_add(uint64_t key, const void *site);  /* before, */
void count_took(uint64_t key, const void *site); /* and after the call */
void count_seen(uint64_t key, const void *site); /* there is something to be taken */

/* ---- ready.c ---- */

int ask_poll(struct pollfd *fds, nfds_t count, int timeout);

/* A call that began then (now_ns) has found that there is something to be read, or the end. */
void stream_looked(int fd, const struct stream *stream, uint64_t began, const void *site);

/* ---- locks.c ---- */

void locks_closing(int fd, const struct stat *st, const void *site);
void locks_duplicated(int from, int to);
void locks_end(const void *site); /* of the process */
void locks_forked(void);

#pragma GCC visibility pop
#endif

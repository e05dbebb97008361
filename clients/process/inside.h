/* libpoet-process: messages between processes through pipes, socketpairs and loopback TCP, told
 * through poet.h.  poet record loads it; it stands before the calls of the C library.
 *
 * A stream is followed only if a traced process made it, and as long as the bytes add up: who wrote which
 * is known by their positions, which are counted in memory that the processes share.  When two write
 * or read at once, or bytes come that no call here has seen, the stream is not followed any more, and a text
 * says so; no order is claimed that the bytes do not bear out. */
#ifndef PROCESS_INSIDE_H
#define PROCESS_INSIDE_H

#include "poet.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

/* ---- streams.c: one way that bytes take ---- */

struct stream {
    uint64_t key;     /* the same in all processes; 0: not followed */
    uint64_t *flags;  /* STREAM_..., writers << 8, readers << 16, generation << 32 */
    uint64_t *written, *claimed, *read; /* bytes; claimed: written, or being written */
};
#define STREAM_BORN 1u
#define STREAM_BROKEN 2u
#define STREAM_WRITER (1u << 8)
#define STREAM_READER (1u << 16)
#define STREAM_GENERATION (1ull << 32)

struct stream stream_find(uint64_t key); /* key 0 if nobody made it */
void stream_make(uint64_t key);          /* begins anew */
bool stream_enter(struct stream *stream, uint64_t side); /* a call is under way; false: not followed */
void stream_leave(struct stream *stream, uint64_t side);
void stream_break(struct stream *stream, const char *why);

/* ---- ends.c: which stream a descriptor is an end of ---- */

uint64_t end_out(int fd); /* 0 none */
uint64_t end_in(int fd);
void ends_pipe(const int fds[2]);
void ends_socketpair(const int fds[2]);
void ends_listen(int fd);
void ends_connecting(const struct sockaddr *to); /* before, */
void ends_connected(int fd, const struct sockaddr *to, bool done); /* and after */
void ends_accepted(int listener, int fd);

uint64_t mix(uint64_t a, uint64_t b);

/* ---- calls.c ---- */

struct dl_phdr_info;
struct real {
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*readv)(int, const struct iovec *, int);
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    int (*pipe)(int[2]);
    int (*pipe2)(int[2], int);
    int (*socketpair)(int, int, int, int[2]);
    int (*listen)(int, int);
    int (*connect)(int, const struct sockaddr *, socklen_t);
    int (*accept)(int, struct sockaddr *, socklen_t *);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
    int (*poll)(struct pollfd *, nfds_t, int);
    int (*dl_iterate_phdr)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
};
extern struct real real;

#pragma GCC visibility pop
#endif

/* TCP connections to other machines of the run. */
#ifndef CLIENTS_LIBPOET_IPC_TCP_PEERS_H
#define CLIENTS_LIBPOET_IPC_TCP_PEERS_H

#include "clients/libpoet/ipc/fd_ends.h"
#include "clients/libpoet/ipc/ipc_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct tcp_peer {
    uint64_t *flags; /* FAR_..., writers << 8, generation << 32; NULL: not traced */
    uint64_t *written,
        *read; /* bytes: reported, also as those that no event wrote; as far as recorded */
    /* how often its writing end was closed; << 32: the process that reported it last */
    uint64_t *ends;
    uint64_t out, in, cookie; /* keys of its two streams */
    poet_place_t here, there;
    uint64_t began; /* a call that writes: its bytes may be read from then on */
    bool again; /* another connection had its addresses and ports before */
};

/* Returns false if it is not traced. */
bool tcp_peer_find(int fd, const struct fd_end *end, struct tcp_peer *peer);
void tcp_peer_enter(struct tcp_peer *peer); /* A call that writes begins. */
/* The call moved nothing, or what it moved will not be known. */
void tcp_peer_leave(const struct tcp_peer *peer);
void tcp_peer_record_written(int fd, const struct tcp_peer *peer, size_t bytes, size_t asked,
                             const void *site);
void tcp_peer_record_read(int fd, const struct tcp_peer *peer, size_t bytes, size_t asked,
                          const void *site);
/* A call such as poll, or with MSG_PEEK. */
void tcp_peer_looked(int fd, const struct tcp_peer *peer, const void *site);
/* Does the same as stream_ended. */
void tcp_peer_ended(const struct tcp_peer *peer, enum ipc_event found, const void *site);
poet_line_t tcp_peer_line(const struct tcp_peer *peer, bool out);

/* Called before and after a writing end is closed. */
void tcp_peer_shut(int fd, const struct tcp_peer *peer, const void *site);
void tcp_peer_closed(const struct tcp_peer *peer);
void tcp_peer_shut_down(const struct tcp_peer *peer); /* For all that share it. */
void tcp_peer_exits(const struct tcp_peer *peer); /* The process exits. */
void tcp_peer_forked(void);

#pragma GCC visibility pop
#endif

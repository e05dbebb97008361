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
    uint64_t *flags; /* FAR_..., writers << 8, generation << 32; NULL: it is not followed */
    uint64_t *written,
        *read; /* bytes: told, also as those that no event wrote; as far as it is known */
    /* how often its end that writes was closed; << 32: the process that told of it last */
    uint64_t *ends;
    uint64_t out, in, cookie; /* keys of its two streams */
    poet_place_t here, there;
    uint64_t began; /* a call that writes: what it gives may be read from then on */
    bool again; /* its addresses and ports were another connection's before */
};

bool tcp_peer_find(int fd, const struct fd_end *end,
                   struct tcp_peer *far); /* false: it is not followed */
void tcp_peer_enter(struct tcp_peer *far); /* a call that writes is under way */
void tcp_peer_leave(const struct tcp_peer *far); /* it moved nothing, or nobody will know what */
void tcp_peer_record_written(int fd, const struct tcp_peer *far, size_t bytes, size_t asked,
                             const void *site);
void tcp_peer_record_read(int fd, const struct tcp_peer *far, size_t bytes, size_t asked,
                          const void *site);
void tcp_peer_looked(int fd, const struct tcp_peer *far, const void *site); /* poll, MSG_PEEK */
void tcp_peer_ended(const struct tcp_peer *far, enum ipc_event found,
                    const void *site); /* as stream_ended */
poet_line_t tcp_peer_line(const struct tcp_peer *far, bool out);

/* An end that writes is about to be closed; and it was. */
void tcp_peer_shut(int fd, const struct tcp_peer *far, const void *site);
void tcp_peer_closed(const struct tcp_peer *far);
void tcp_peer_shut_down(const struct tcp_peer *far); /* for all who have it */
void tcp_peer_exits(const struct tcp_peer *far); /* with its process */
void tcp_peer_forked(void);

#pragma GCC visibility pop
#endif

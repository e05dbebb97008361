/* The other end of a connected socket of a process on this host: of TCP by /proc/PID/net/tcp, of
 * local sockets by sock_diag(7); and whether the socket has a timeout. */
#ifndef CLIENTS_SNAPSHOT_SOCKET_PEER_H
#define CLIENTS_SNAPSHOT_SOCKET_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct socket_peer {
    uint64_t inode; /* 0: it has none, or none is known */
    bool timed; /* it has a timeout for the call */
    bool open; /* bytes may be on their way, or whether there is a timeout is not known */
};

/* Finds the other end of the socket with an inode, which is a descriptor of a process. */
struct socket_peer socket_peer_find(uint32_t pid, uint64_t descriptor, uint64_t inode, bool reads);

/* A connection of TCP, as a line of /proc/net/tcp or tcp6. */
struct tcp_end {
    char local[48], remote[48]; /* addresses and ports; mapped addresses as those of IPv4 */
    uint64_t inode, unsent; /* unsent: bytes that were not acknowledged */
    bool full; /* the buffer of the other end */
};
/* Parses a line; returns false if it has no inode. */
bool tcp_end_parse(const char *line, struct tcp_end *end);

#endif

/* Peers of connected Unix sockets, as the kernel's sock_diag(7) reports them. Thread-safe. */
#ifndef SERVER_OSMETRICS_UNIX_PEERS_H
#define SERVER_OSMETRICS_UNIX_PEERS_H

#include <stdint.h>

/* Returns the inode of the stream socket to which a Unix stream socket is connected, in the network
 * name space of the caller; 0: it is another socket, it is not connected, or that is not known. */
uint32_t unix_peer_inode(uint32_t inode);

#endif

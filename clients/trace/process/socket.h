/* What the kernel alone knows of a socket. */
#ifndef CLIENTS_TRACE_PROCESS_SOCKET_H
#define CLIENTS_TRACE_PROCESS_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

bool cookie_of(int fd, uint64_t *cookie); /* no other socket has it; false: it is no socket */
/* By inodes: who the peer of a Unix socket is; 0: not known. */
uint64_t peer_of(uint64_t inode);

#pragma GCC visibility pop
#endif

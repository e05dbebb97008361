/* Calls that report readiness: poll, select, epoll and the like. */
#ifndef CLIENTS_LIBPOET_IPC_POLL_RESULTS_H
#define CLIENTS_LIBPOET_IPC_POLL_RESULTS_H

#include "clients/libpoet/ipc/byte_streams.h"

#include <poll.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

int poll_result_query(struct pollfd *fds, nfds_t count, int timeout);

/* A call that began at that time (now_ns) has found data to read, or the end. */
void stream_polled(int fd, const struct ipc_stream *stream, uint64_t began, const void *site);

#pragma GCC visibility pop
#endif

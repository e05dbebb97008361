/* Which descriptors bring something from outside of the run. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_EXTERNAL_FDS_H
#define CLIENTS_LIBPOET_INTERPOSE_EXTERNAL_FDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#pragma GCC visibility push(hidden)

void external_fd_add_inherited(
    void); /* by the first program of a run: its standard ones are from outside */
bool external_fd_is_external(int fd);
/* A socket that gets datagrams from anybody: each has its sender, who is here or elsewhere. */
bool external_fd_is_per_sender(int fd);
bool external_fd_is_remote_sender(const struct sockaddr_storage *sender); /* is elsewhere */
void external_fd_skip(int fd,
                      int64_t bytes); /* what was given back is not there to be read again */

#pragma GCC visibility pop
#endif

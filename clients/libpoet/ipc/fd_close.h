/* Closing of file descriptors. */
#ifndef CLIENTS_LIBPOET_IPC_FD_CLOSE_H
#define CLIENTS_LIBPOET_IPC_FD_CLOSE_H

#pragma GCC visibility push(hidden)

void fd_close_init(void); /* Checks the descriptors that this program inherited. */

#pragma GCC visibility pop
#endif

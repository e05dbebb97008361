/* Where descriptors are given up. */
#ifndef CLIENTS_LIBPOET_IPC_FD_CLOSE_H
#define CLIENTS_LIBPOET_IPC_FD_CLOSE_H

#pragma GCC visibility push(hidden)

void fd_close_init(void); /* looks at what this program was given */

#pragma GCC visibility pop
#endif

/* Numbers of libpoet's own file descriptors, which must not collide with the program's. */
#ifndef CLIENTS_LIBPOET_CORE_DESCRIPTOR_H
#define CLIENTS_LIBPOET_CORE_DESCRIPTOR_H

#pragma GCC visibility push(hidden)

/* Duplicates the descriptor under a number of at least `least` and closes the old one. Returns `fd`
 * itself if that fails. 0 to 2 belong to the program, even if it has closed them. */
int server_connection_move_fd(int fd, int least);
/* Moves the descriptor for good, beyond the numbers that the program may open, or as high as
 * possible. */
int descriptor_aside(int fd);

#pragma GCC visibility pop
#endif

/* The numbers of libpoet's own descriptors, which are not to be in the program's way. */
#ifndef CLIENTS_LIBPOET_CORE_DESCRIPTOR_H
#define CLIENTS_LIBPOET_CORE_DESCRIPTOR_H

#pragma GCC visibility push(hidden)

/* The same descriptor under a number of at least `least`: 0 to 2 are the program's, also where it
 * has closed them. */
int server_connection_move_fd(int fd, int least);
/* The same, for good: beyond what the program may open, so that it takes no number of the
 * program's, or as high as that is possible. */
int descriptor_aside(int fd);

#pragma GCC visibility pop
#endif

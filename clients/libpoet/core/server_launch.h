/* Starting a server of our own, or an agent. */
#ifndef CLIENTS_LIBPOET_CORE_SERVER_LAUNCH_H
#define CLIENTS_LIBPOET_CORE_SERVER_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct server_launch {
    const char *name; /* all processes of this name have one; NULL: this one has one of its own */
    const char *to; /* it is an agent, which forwards there; NULL: it orders, and writes a file */
};

/* A connection to it, or -1.  Sets *endpoint to where it listens and *file to what it writes.  Of a
 * launch with a name the first process starts it, the others join (*joined; *file is not set); they
 * wait for each other, at most 3 s, until server_launch_done() says that it answers. */
int server_launch_start(const struct server_launch *launch, bool *joined, char *file,
                        size_t file_size, char *endpoint, size_t endpoint_size);
void server_launch_done(void);
/* At the end of the first process of a container, with which the system ends its server: not before
 * that has all, but for so long at most. */
void server_launch_wait(unsigned ms);
void server_launch_end(void); /* of the process that started it: nobody else will come */

#pragma GCC visibility pop
#endif

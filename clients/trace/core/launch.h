/* Starting a server of our own. */
#ifndef CLIENTS_TRACE_CORE_LAUNCH_H
#define CLIENTS_TRACE_CORE_LAUNCH_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Starts one that writes *file; a connection to it, or -1.  Sets *endpoint to where it listens. */
int launch_server(char *file, size_t file_size, char *endpoint, size_t endpoint_size);
/* The same for all processes of a launch: the first starts it, the others connect to it (*file is not
 * set).  They wait for each other, at most 3 s, until launch_done() says that it answers. */
int launch_shared(const char *launch, char *file, size_t file_size, char *endpoint,
                  size_t endpoint_size);
void launch_done(void);
void launch_end(void); /* of the process that started it: nobody else will come */

#pragma GCC visibility pop
#endif

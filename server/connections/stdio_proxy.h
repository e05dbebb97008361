/* Standard input and output in place of a socket: poet server --stdio, where a viewer on another
 * machine is at their other end. */
#ifndef SERVER_CONNECTIONS_STDIO_PROXY_H
#define SERVER_CONNECTIONS_STDIO_PROXY_H

#include <stdbool.h>

/* Carries bytes between them and a socket until either side ends. */
void stdio_proxy_run(int fd);
/* Returns a socket with them as its other side; a process of its own carries the bytes.  Returns -1
 * with errno if that fails. */
int stdio_proxy_begin(void);
/* Carries bytes between them and a server on another machine, through TLS, until either side ends:
 * poet server --stdio --to poet://HOST:PORT.  Returns an exit status, with everything said. */
int remote_stdio_proxy_run(const char *where);

#endif

/* Standard input and output in place of a socket. */
#ifndef SERVER_CONNECTIONS_STDIO_PROXY_H
#define SERVER_CONNECTIONS_STDIO_PROXY_H

#include <stdbool.h>

/* Carries bytes between them and a socket until either side ends. */
void stdio_proxy_run(int fd);
/* A socket whose other side they are; a process of its own carries the bytes.  -1: errno says
 * why. */
int stdio_proxy_begin(void);

#endif

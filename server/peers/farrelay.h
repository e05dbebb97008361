/* poet server --stdio --to poet://HOST:PORT: a viewer speaks with a server on another machine, through TLS.  It ends with
 * either side. */
#ifndef SERVER_PEERS_FARRELAY_H
#define SERVER_PEERS_FARRELAY_H

int far_relay(const char *where); /* an exit status, with everything said */

#endif

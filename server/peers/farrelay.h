/* poet server --stdio --to poet://HOST:PORT: a viewer speaks with a server on another machine,
 * through TLS.  It ends with either side. */
#ifndef SERVER_PEERS_FARRELAY_H
#define SERVER_PEERS_FARRELAY_H

int remote_stdio_proxy_run(const char *where); /* an exit status, with everything said */

#endif

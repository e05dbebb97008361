/* poet server --stdio --to poet://HOST:PORT: a viewer speaks with a server on another machine,
 * through TLS.  It ends with either side. */
#ifndef SERVER_CONNECTIONS_REMOTE_STDIO_PROXY_H
#define SERVER_CONNECTIONS_REMOTE_STDIO_PROXY_H

int remote_stdio_proxy_run(const char *where); /* an exit status, with everything said */

#endif

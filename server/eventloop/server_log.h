/* The server's log. */
#ifndef SERVER_EVENTLOOP_SERVER_LOG_H
#define SERVER_EVENTLOOP_SERVER_LOG_H

/* Writes a line of the server's log to standard error, with a time; masks unprintable
 * characters. */
void server_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

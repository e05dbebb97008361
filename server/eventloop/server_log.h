/* The server's log. */
#ifndef SERVER_EVENTLOOP_SERVER_LOG_H
#define SERVER_EVENTLOOP_SERVER_LOG_H

/* A line of it: standard error, with a time.  What is not printable is masked. */
void server_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

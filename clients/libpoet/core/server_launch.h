/* Start of a server, or of an agent, by the program. */
#ifndef CLIENTS_LIBPOET_CORE_SERVER_LAUNCH_H
#define CLIENTS_LIBPOET_CORE_SERVER_LAUNCH_H

#include "wire/message.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct server_launch {
    const char *name; /* all processes with this name share one; NULL: this process has its own */
    const char *to; /* start an agent that forwards there; NULL: a server that writes a file */
};

/* Returns a connection to the server, or -1. Sets *endpoint to the address on which it listens and
 * *file to the file that it writes. In a launch with a name, the first process starts the server
 * and the others join (*joined; *file is not set); they wait for each other, at most 3 s, until
 * server_launch_done() reports that it answers. */
int server_launch_start(const struct server_launch *launch, bool *joined, char *file,
                        size_t file_size, char *endpoint, size_t endpoint_size);
void server_launch_done(void);
/* Called at the end of the first process of a container, with which the system kills its server:
 * waits until the server has received everything, but at most `ms` milliseconds. */
void server_launch_wait(unsigned ms);
/* Called by the process that started it: no other process will join. */
void server_launch_end(void);

/* ---- request for a report ----
 *
 * POET_REPORT: request for a report of the run, which the server writes when the run has ended. */

/* Returns a message for the user if the server is an agent, which writes no report; once for this
 * process and those that it starts. NULL: none. */
const char *report_request_agent_message(void);
/* Requests the report, if the user wants one; own: the server was started by this program. Returns
 * a message for the user, or NULL. */
const char *report_request_announce(struct encoder *out, bool own);

#pragma GCC visibility pop
#endif

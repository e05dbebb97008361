/* POET_REPORT: request for a report of the run, which the server writes when the run has ended. */
#ifndef CLIENTS_LIBPOET_CORE_REPORT_REQUEST_H
#define CLIENTS_LIBPOET_CORE_REPORT_REQUEST_H

#include "wire/message.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Returns whether the report goes to standard error. A server that the program started then keeps
 * that open. */
bool report_request_is_stderr(void);
/* Returns a message for the user if the server is an agent, which writes no report; once for this
 * process and those that it starts. NULL: none. */
const char *report_request_agent_message(void);
/* Requests the report, if the user wants one; own: the server was started by this program. Returns
 * a message for the user, or NULL. */
const char *report_request_announce(struct encoder *out, bool own);

#pragma GCC visibility pop

#endif

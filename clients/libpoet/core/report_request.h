/* POET_REPORT: a report of the run when it has ended, which the server has made. */
#ifndef CLIENTS_LIBPOET_CORE_REPORT_REQUEST_H
#define CLIENTS_LIBPOET_CORE_REPORT_REQUEST_H

#include "wire/message.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Is it to be printed to standard error?  Then a server of the program's own keeps that open. */
bool report_request_is_stderr(void);
/* What is to be said where there is an agent, which makes none; once for this process and those
 * that it starts.  NULL: nothing. */
const char *report_request_agent_message(void);
/* Asks for it, if somebody wants one; own: of a server that this program started.  NULL, or what is
 * to be said. */
const char *report_request_announce(struct encoder *out, bool own);

#pragma GCC visibility pop

#endif

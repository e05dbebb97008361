/* Recording of a program under a supervising process, which writes a report after the program has
 * ended. */
#ifndef CLIENTS_CLI_RECORDED_PROGRAM_H
#define CLIENTS_CLI_RECORDED_PROGRAM_H

#include "clients/cli/command.h"

#include <sys/types.h>

/* Like fork(). The supervisor forwards requests to terminate to the program; both receive a
 * terminal's interrupt, which does not end the supervisor. */
pid_t recorded_program_begin(void);
/* For the supervisor: waits for the program, then until the file is complete, and writes the
 * report, to standard error or to a file. Exits as the program did. */
int recorded_program_end(const struct command *command, pid_t program, const char *file,
                         const char *report);

/* Waits until the server has completed the file of a program that has ended. */
void recorded_program_is_complete(pid_t program);

#endif

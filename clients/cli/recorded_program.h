/* A program that is recorded by a process that stays: for a report when it has ended. */
#ifndef CLIENTS_CLI_RECORDED_PROGRAM_H
#define CLIENTS_CLI_RECORDED_PROGRAM_H

#include "clients/cli/command.h"

#include <sys/types.h>

/* As fork.  What asks the one that stays to end goes to the other; a terminal's interrupt both get,
 * and it does not end the one that stays. */
pid_t recorded_program_begin(void);
/* For the one that stays: waits for the program, then until all of the file is there, and writes
 * the report: to standard error, or a file.  Ends as the program did. */
int recorded_program_end(const struct command *command, pid_t program, const char *file,
                         const char *report);

/* Until all of the file is there that the server of a program has written, which has ended. */
void recorded_program_is_complete(pid_t program);

#endif

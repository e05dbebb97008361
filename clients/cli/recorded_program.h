/* Recording of a program under a supervising process, which writes a report and judges the findings
 * after the program has ended, and can end it when it makes no progress. */
#ifndef CLIENTS_CLI_RECORDED_PROGRAM_H
#define CLIENTS_CLI_RECORDED_PROGRAM_H

#include "clients/cli/command.h"

#include <sys/types.h>

/* The findings that it looks for, besides violated assertions. */
#define RECORDED_FINDINGS                                                                          \
    (FINDINGS_OF_HANGS | FINDINGS_OF_RULES | FINDINGS_OF_PREDICTION | FINDINGS_OF_ORDERS |         \
     FINDINGS_OF_MEMORY | FINDINGS_OF_RACES | FINDINGS_OF_PROGRESS)

/* Like fork(). The supervisor forwards requests to terminate to the program; both receive a
 * terminal's interrupt, which does not end the supervisor. */
pid_t recorded_program_begin(void);
struct assertions;
struct recorded_program {
    const struct command *command;
    const char *file; /* the trace */
    const char *report; /* its file, "" standard error; NULL: none */
    /* After this time without a new event the program and its descendants are killed; 0: never. */
    int64_t hang_timeout_ns;
    int finding_status; /* the exit status if there is a finding of --fail-on */
    const struct assertions *assertions; /* that the run must not violate; NULL: none */
};

/* For the supervisor: waits for the program, then until the file is complete, writes the report,
 * checks the assertions, and judges the findings (finding_options.h). Returns the exit status: that
 * for findings if there are any or the program was killed for its hang, 2 if they could not be
 * judged, else it ends as the program did. */
int recorded_program_end(const struct recorded_program *recorded, pid_t program);

/* Waits until the server has completed the file of a program that has ended. */
void recorded_program_is_complete(pid_t program);

#endif

/* Check of a run against assertions (config/assertion_file.h): its violations, as text, JSON and
 * findings. */
#ifndef CLIENTS_CLI_ASSERTION_CHECK_H
#define CLIENTS_CLI_ASSERTION_CHECK_H

#include "clients/cli/run_findings.h"
#include "config/assertion_file.h"

#include <stdio.h>

enum assertion_output {
    ASSERTION_TEXT,
    ASSERTION_VIOLATIONS, /* as text, without the assertions that are not violated */
    ASSERTION_JSON,
    ASSERTION_JSON_VIOLATIONS,
    ASSERTION_SILENT
};

/* Checks a run, of which all lines must be known, and adds its violations to the findings.  Returns
 * EXIT_DONE, EXIT_FAILED if there is one, EXIT_USAGE after reporting an error. */
int assertion_check_run(const struct command *command, struct command_source *subject,
                        const struct assertions *all, const char *source,
                        enum assertion_output output, FILE *f, struct run_findings *findings);
/* Does this for a source (NULL: the latest run) and a file of assertions; as text or JSON on
 * standard output, unless findings are printed in its place. */
int assertion_check_source(const struct command *command, const char *source, const char *file,
                           bool json, struct run_findings *findings);
/* Does this for the assertions of the target descriptions of an opened run; prints violations
 * alone. */
int assertion_check_described(const struct command *command, struct command_source *subject,
                              const char *source, bool json, struct run_findings *findings);

#endif

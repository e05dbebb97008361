/* Search for the smallest cut that still has a finding: cuts are written and their findings
 * collected, from small to large, until one has it. */
#ifndef CLIENTS_CLI_CUT_FINDING_H
#define CLIENTS_CLI_CUT_FINDING_H

#include "clients/cli/cut_output.h"

/* Writes the smallest cut found that still has a finding, which is selected by its number from 1 in
 * the order of the run's findings, or by its identity; "list" prints them. Returns an exit status,
 * after reporting errors; *text is set to a line about what the cut has, which the caller frees. */
int cut_finding_write(struct cut_output *output, struct command_source *subject,
                      const char *finding, char **text);

#endif

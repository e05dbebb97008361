/* Options of the commands that report findings (run_findings.h): --fail-on, --format, --findings
 * and --accepted; and the exit status that follows from them. The values are kept for the one
 * command that a process runs. Not thread-safe. */
#ifndef CLIENTS_CLI_FINDING_OPTIONS_H
#define CLIENTS_CLI_FINDING_OPTIONS_H

#include "clients/cli/run_findings.h"

#include <argp.h>
#include <stdio.h>

struct json_object;

/* A child of the tables of such commands. It needs no input. */
extern const struct argp finding_options;

/* Checks the values, once they are read, for a command that reports these groups. Returns
 * EXIT_DONE, or EXIT_USAGE after reporting an error. */
int finding_options_check(const struct command *command, unsigned groups);
/* Returns whether any of the options was given; and whether the findings are printed in place of
 * the text of the command. */
bool finding_options_given(void);
bool finding_options_fail(void); /* --fail-on was given */
bool finding_options_replace_text(void);

/* Returns the groups of a command without those that are looked for only on request. */
unsigned finding_options_groups(unsigned groups);
/* Collects the findings of an opened source, writes them as requested, and returns the exit status:
 * with --fail-on 0 if there is no such finding, 1 if there is one, 2 after an error; else `status`,
 * that of the command so far. kinds: of predictions; NULL: the default. */
int finding_options_judge(const struct command *command, struct command_source *subject,
                          unsigned groups, const char *kinds, const char *source, int status);
/* Returns the exit status of a command that ended with `status` before its findings were judged:
 * with --fail-on an error is 2. */
int finding_options_status(int status);
/* Judges findings that were collected already, as finding_options_judge() does, and frees them. */
int finding_options_judge_all(const struct command *command, struct run_findings *findings,
                              unsigned groups, const char *source, int status);

/* ---- finding formats ---- */

/* Input of a format. JUnit's has a passed test for each kind that was looked for and not found. */
struct finding_report {
    const struct run_findings *findings;
    unsigned groups; /* the enum finding_group that were looked for */
    const char *source; /* what was examined, as the user named it; NULL: the latest run */
};

struct finding_format {
    const char *name; /* of --format */
    const char *suffix; /* of a file */
    void (*write)(FILE *f, const struct finding_report *report);
};

/* gcc (FILE:LINE: error: ...), json, sarif (SARIF 2.1.0, OASIS), junit (XML as Jenkins and GitLab
 * read it), github (workflow commands of GitHub Actions); ended by a NULL name. */
extern const struct finding_format finding_formats[];

/* Returns a finding as the format json has it; the caller frees it. */
struct json_object *finding_json(const struct run_finding *finding);

/* Return a format by name, or by the suffix of a file's name; NULL: none. */
const struct finding_format *finding_format_named(const char *name);
const struct finding_format *finding_format_of_file(const char *file);

#endif

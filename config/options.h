/* Command-line options of Poet's commands, based on glibc's argp: one table defines their names,
 * their arguments and what --help prints. Options that commands share are a child of their tables.
 *
 * Differs from argp in three points: an unknown option is reported with the nearest valid one,
 * --help returns like any other option, and nothing exits. */
#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#define OPTIONS_READ (-1)
#define OPTIONS_HELPED 0 /* as an exit status */
#define OPTIONS_WRONG 2

struct options {
    const char *name; /* of the command, without "poet" */
    /* Its parser returns EINVAL for an invalid value, after having reported it. */
    const struct argp *argp;
    bool program_follows; /* options end at the first operand: PROGRAM ARGUMENT... */
};

/* Parses argv[1] and later words with `input` as the parser's input. Returns OPTIONS_READ, with
 * *first the index of the first operand (operands are moved to the end); otherwise the exit status,
 * after everything was printed. */
int options_read(const struct options *options, int argc, char **argv, void *input, int *first);

/* Prints each option that --help shows, one per line: "-o", "--output", the name of its argument,
 * its description, separated by tabs; absent fields are empty. Shell completions are generated from
 * this, so options_read() prints it for --list-options. */
void options_list(const struct argp *argp, FILE *f);

/* The child table with --help. A table that has children of its own includes options_common in
 * them. */
extern const struct argp options_common;
extern const struct argp_child options_children[];

#endif

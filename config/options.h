/* The options of our own commands, by glibc's argp: one table says what they are called, what they
 * take and what --help prints.  Options that commands share are a child of their tables.
 *
 * What argp does in another way than we want is done here: a wrong option is answered with the
 * nearest one that there is, --help is an answer like any other, and nothing exits. */
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
    /* Its parser returns EINVAL for a bad value, having said what is wrong. */
    const struct argp *argp;
    bool program_follows; /* options end at the first word that is none: PROGRAM ARGUMENT... */
};

/* Reads argv[1] and on into what `input` is to the parser.  OPTIONS_READ: *first is the index of
 * the first word that is no option (those come last then); else the exit status, with everything
 * said. */
int options_read(const struct options *options, int argc, char **argv, void *input, int *first);

/* Prints each option that --help shows, one a line: "-o", "--output", what its value is called,
 * what it does, between tabs; what there is not is empty.  Shell completions are made of this, so
 * options_read answers --list-options with it. */
void options_list(const struct argp *argp, FILE *f);

/* The children of a table that has no others: --help.  One that has some puts options_common among
 * them. */
extern const struct argp options_common;
extern const struct argp_child options_children[];

#endif

/* Command-line options of Poet's commands, based on glibc's argp: one table defines their names,
 * their arguments and what --help prints. Options that commands share are a child of their tables.
 *
 * Differs from argp in three points: an unknown option is reported with the nearest valid one,
 * --help returns like any other option, and nothing exits. */
#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OPTIONS_READ (-1)
#define OPTIONS_HELPED 0 /* as an exit status */
#define OPTIONS_WRONG 2

struct options {
    const char *name; /* of the command, without "poet" */
    /* The parser returns EINVAL for an invalid value, after having reported it. */
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

/* ---- rows of options ----
 *
 * A table of what the options of a command set, one row an option, for its parser:
 *
 *     static const struct option_row rows[] = {
 *         OPTION_STORES('o', struct copy_options, output),
 *         OPTION_SETS('q', struct copy_options, quiet),
 *         {0}};
 *
 * The parser handles the options that need more, such as numbers, and passes the others on to
 * option_rows_parse(). */
enum option_action {
    OPTION_ACTION_TRUE,
    OPTION_ACTION_TEXT,
    OPTION_ACTION_CONSTANT,
    OPTION_ACTION_CHILD
};

struct option_row {
    int key; /* of the struct argp_option */
    enum option_action action;
    size_t offset; /* of the member in the parser's input */
    const char *constant;
};

#define OPTION_ROW_FLAG(type, member)                                                              \
    (offsetof(type, member) + 0 * sizeof(char[_Generic(((type *)0)->member, bool: 1, default: -1)]))
#define OPTION_ROW_TEXT(type, member)                                                              \
    (offsetof(type, member) +                                                                      \
     0 * sizeof(char[_Generic(((type *)0)->member, char *: 1, const char *: 1, default: -1)]))

/* clang-format off */
/* The option sets a bool to true. */
#define OPTION_SETS(key, type, member) \
    {key, OPTION_ACTION_TRUE, OPTION_ROW_FLAG(type, member), NULL}
/* The option stores its value, or a constant text, in a char pointer. */
#define OPTION_STORES(key, type, member) \
    {key, OPTION_ACTION_TEXT, OPTION_ROW_TEXT(type, member), NULL}
#define OPTION_STORES_CONSTANT(key, type, member, text) \
    {key, OPTION_ACTION_CONSTANT, OPTION_ROW_TEXT(type, member), text}
/* A member is the input of the first child table. */
#define OPTION_CHILD_INPUT(type, member) \
    {ARGP_KEY_INIT, OPTION_ACTION_CHILD, offsetof(type, member), NULL}
/* clang-format on */

/* Does what the rows of the key say with state->input, in their order; the rows end with key 0.
 * Returns 0, or ARGP_ERR_UNKNOWN if there are none. */
error_t option_rows_parse(const struct option_row *rows, int key, char *value,
                          struct argp_state *state);

#endif

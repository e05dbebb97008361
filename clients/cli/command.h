/* The interface of the sub-commands of `poet`: entry points, options and error messages. */
#ifndef CLIENTS_CLI_COMMAND_H
#define CLIENTS_CLI_COMMAND_H

#include "config/options.h"

#include <stdint.h>

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2

struct command {
    const char *name, *summary;
    int (*run)(const struct command *command, int argc, char **argv); /* NULL: poet help */
    const struct argp *argp; /* its options and its help */
    bool program_follows;    /* options end at the first operand */
    const char *program; /* executed instead of run(), with `operands` for completion; or NULL */
    const char *operands;
    bool opens_cuts; /* it examines cuts that it wrote itself, and reports of none that it is one */
};

/* Prints "poet COMMAND: MESSAGE" on standard error. Returns EXIT_FAILED. */
int command_fail(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints the error, and a reference to poet help. Returns EXIT_USAGE. */
int command_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Parses the options with `input` as the input of the parser of command->argp. Returns
 * OPTIONS_READ, with *first the index of the first operand; else the exit status, after everything
 * was printed. */
int command_read(const struct command *command, int argc, char **argv, void *input, int *first);
/* Parses a decimal number from 1 to `most`. Returns false if the text is none. */
bool command_number(const char *text, unsigned most, unsigned *number);
/* Returns the plural ending "s" for a count, or "". */
const char *plural_suffix(uint64_t count);
/* Parser of commands with the only option --json; the input is a bool. */
error_t command_parse_json(int key, char *value, struct argp_state *state);

extern const struct command command_dump, command_order, command_stat, command_runs,
    command_blocked, command_check, command_export, command_import, command_record, command_show,
    command_ls, command_rm, command_note, command_states, command_report, command_waits,
    command_locks, command_path, command_calls, command_source, command_resources, command_metrics,
    command_measure, command_memory, command_watch, command_replay, command_debug, command_attach,
    command_predict, command_races, command_confirm, command_suspect, command_key, command_merge,
    command_compare, command_find, command_query, command_mcp, command_state, command_cut;

/* ---- command table ---- */

#define COMMAND_GROUP_MAX 12

extern const struct command_group {
    const char *title;
    const struct command *commands[COMMAND_GROUP_MAX + 1]; /* NULL-terminated */
} command_groups[]; /* terminated by a group without a title */

/* Returns the i-th command, from 0, over all groups; NULL if there are no more. */
const struct command *command_table_at(size_t i);
/* Returns NULL if there is none of that name. */
const struct command *command_table_find(const char *name);
/* Returns the command that a misspelled word most likely means, or NULL. */
const char *command_table_nearest(const char *word);

#endif

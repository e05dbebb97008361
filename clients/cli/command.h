/* The sub-commands of `poet`: how they are called, read their options and complain. */
#ifndef CLIENTS_CLI_COMMAND_H
#define CLIENTS_CLI_COMMAND_H

#include "config/options.h"

#include <stdint.h>

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2

struct command {
    const char *name, *summary;
    int (*run)(const struct command *command, int argc, char **argv);
    const struct argp *argp; /* its options and its help */
    bool program_follows;    /* options end at the first word that is none */
};

int command_fail(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int command_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reads the options into what `input` is to the parser of command->argp.  OPTIONS_READ: *first is
 * the index of the first word that is no option; else the exit status, with everything said. */
int command_read(const struct command *command, int argc, char **argv, void *input, int *first);
/* The "s" behind a noun of which there are so many, or "". */
const char *plural_suffix(uint64_t count);
/* Of commands whose one option is --json: a bool. */
error_t command_parse_json(int key, char *value, struct argp_state *state);

extern const struct command command_dump, command_order, command_stat, command_runs,
    command_blocked, command_check, command_export, command_import, command_record, command_show,
    command_ls, command_rm, command_note, command_states, command_report, command_waits,
    command_path, command_calls, command_source, command_resources, command_metrics, command_memory,
    command_watch, command_replay, command_debug, command_attach, command_predict, command_confirm,
    command_key, command_merge, command_compare;

#endif

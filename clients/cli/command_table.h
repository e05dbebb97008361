/* Table of commands: those in this program, and those that are separate programs. */
#ifndef CLIENTS_CLI_COMMAND_TABLE_H
#define CLIENTS_CLI_COMMAND_TABLE_H

#include "clients/cli/command.h"

extern const struct command *const table_commands[]; /* NULL-terminated */

extern const struct table_program {
    const char *name, *program, *summary;
    const char *args_doc; /* its operands, as in its own table */
} table_programs[]; /* terminated by an entry without a name */

/* Returns the command that a misspelled word most likely means, or NULL. */
const char *command_table_nearest(const char *word);

#endif

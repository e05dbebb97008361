/* The commands that there are: those of this program, and the programs that it starts for
 * others. */
#ifndef CLIENTS_CLI_COMMAND_TABLE_H
#define CLIENTS_CLI_COMMAND_TABLE_H

#include "clients/cli/command.h"

extern const struct command *const table_commands[]; /* NULL ends it */

extern const struct table_program {
    const char *name, *program, *summary;
    const char *args_doc; /* as in its own table: what it takes */
} table_programs[]; /* one without a name ends it */

/* The command that a misspelt word is likely to mean, or NULL. */
const char *command_table_nearest(const char *word);

#endif

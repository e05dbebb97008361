/* Table of commands, in the groups of `poet help`. */
#ifndef CLIENTS_CLI_COMMAND_TABLE_H
#define CLIENTS_CLI_COMMAND_TABLE_H

#include "clients/cli/command.h"

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

/* poet calls --blocks: the code segments of a function between the calls that it makes. */
#ifndef CLIENTS_CLI_CALL_BLOCKS_H
#define CLIENTS_CLI_CALL_BLOCKS_H

#include "clients/cli/table_options.h"

/* Fills the column "lines" with the source lines from which to which each row leads. */
void call_blocks_name_lines(struct command_source *subject, struct result_table *table);

#endif

/* poet calls --blocks: the stretches of a function between the calls that it makes. */
#ifndef CLIENTS_CLI_CALL_BLOCKS_H
#define CLIENTS_CLI_CALL_BLOCKS_H

#include "clients/cli/table_options.h"

/* Says from which line to which each row is, in its column "lines". */
void call_blocks_name_lines(struct command_source *subject, struct result_table *table);

#endif

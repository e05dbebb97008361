/* Charts of the states of threads along time, in a file or in the terminal. */
#ifndef CLIENTS_CLI_STATE_CHARTS_H
#define CLIENTS_CLI_STATE_CHARTS_H

#include "clients/cli/table_options.h"

bool state_charts_known(
    const char *
        /* "gantt": when threads were at work, also "overview"; "transitions": their states */
        kind);
/* Of the threads in the table of states, whose shares are asked for, with the critical path over
 * them, by piece (NULL: without); tables->chart says which: an exit status, with a complaint. */
int state_charts_write(const struct table_settings *tables, struct command_source *subject,
                       const struct result_table *states, const struct result_table *pieces);

#endif

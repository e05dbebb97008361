/* Data races of a run (table `races`), for `poet races`, `poet report` and findings. */
#ifndef CLIENTS_CLI_RACE_REQUEST_H
#define CLIENTS_CLI_RACE_REQUEST_H

#include "clients/cli/table_options.h"

/* Requests them, those at the same source lines merged; returns an exit status, after reporting
 * errors. The caller frees the table in any case. */
int race_request_run(const struct table_settings *tables, struct command_source *subject,
                     struct result_table *table);

#endif

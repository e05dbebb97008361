/* Data races of a run (table `races`), for `poet races`, `poet report` and findings. */
#ifndef CLIENTS_CLI_RACES_H
#define CLIENTS_CLI_RACES_H

#include "clients/cli/table_options.h"

/* Requests them, those at the same source lines merged; returns an exit status, after reporting
 * errors. The caller frees the table in any case. */
int races_request(const struct table_settings *tables, struct command_source *subject,
                  struct result_table *table);

#endif

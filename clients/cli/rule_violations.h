/* Rules of its environment that a program breaks (table `violations`), as text and JSON.  Not
 * thread-safe. */
#ifndef CLIENTS_CLI_RULE_VIOLATIONS_H
#define CLIENTS_CLI_RULE_VIOLATIONS_H

#include "clients/cli/command_source.h"
#include "clients/connection/result_table.h"

#include <stdint.h>
#include <stdio.h>

struct json_object;

/* Requests them; returns an exit status, after reporting errors.  The caller frees the table in any
 * case. */
int rule_violations_request(const struct command *command, struct command_source *subject,
                            struct result_table *table);
/* Writes `most` of them at most, each with its place and event, and how many more there are. */
void rule_violations_write(FILE *f, int indent, const struct table_names *names,
                           const struct result_table *table, uint32_t most);
/* Returns an array of them, in new memory. */
struct json_object *rule_violations_json(const struct table_names *names,
                                         const struct result_table *table);

#endif

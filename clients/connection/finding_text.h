/* Texts for predicted bugs (the table `predict`). */
#ifndef CLIENTS_CONNECTION_FINDING_TEXT_H
#define CLIENTS_CONNECTION_FINDING_TEXT_H

#include "clients/connection/result_table.h"

/* Returns whether a comma-separated list has only known kinds. */
bool finding_text_kinds_are_known(const char *list);
/* Returns all kinds, comma-separated, in new memory. */
char *finding_text_kinds(void);
/* Returns the kind of a row of depth 0. */
const char *finding_text_kind(const struct result_table *table, uint32_t row);
/* Returns the predicted bug of such a row: "inversion (3 times): each holds ...", in new memory. */
char *finding_text_summary(const struct result_table *table, uint32_t row);
/* Returns what a thread did, for a row of depth 1 below one of that kind, in new memory. */
char *finding_text_participant(const struct table_names *names, const struct result_table *table,
                               uint32_t row, const char *kind);

#endif

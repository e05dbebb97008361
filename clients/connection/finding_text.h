/* Texts of predicted bugs (rows of the table `predict`), from wire/finding_kinds.h. */
#ifndef CLIENTS_CONNECTION_FINDING_TEXT_H
#define CLIENTS_CONNECTION_FINDING_TEXT_H

#include "clients/connection/result_table.h"
#include "wire/finding_kinds.h"

/* Returns whether a comma-separated list has only kinds of these groups. */
bool finding_text_kinds_are_known(const char *list, unsigned groups);
/* Returns "deadlock, hang, ...": the names of the kinds of these groups, in new memory. */
char *finding_text_kinds(unsigned groups);
/* Returns the kind of a row of depth 0; FINDING_KIND_COUNT if it is not known. */
enum finding_kind finding_text_kind(const struct result_table *table, uint32_t row);
/* Returns the predicted bug of such a row: "inversion (3 times): each holds ...", in new memory. */
char *finding_text_summary(const struct result_table *table, uint32_t row);
/* Returns what a thread did, for a row of depth 1 below one of that kind, in new memory. */
char *finding_text_participant(const struct table_names *names, const struct result_table *table,
                               uint32_t row, enum finding_kind kind);

#endif

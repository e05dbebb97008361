/* What else a run could have done (the table `predict`), in words. */
#ifndef CLIENTS_CONNECTION_FINDING_TEXT_H
#define CLIENTS_CONNECTION_FINDING_TEXT_H

#include "clients/connection/result_table.h"

/* Words of kinds with commas between? */
bool finding_text_kinds_are_known(const char *list);
/* Returns all words of kinds with commas between, new memory. */
char *finding_text_kinds(void);
/* Of a row of depth 0: its kind. */
const char *finding_text_kind(const struct result_table *table, uint32_t row);
/* Of such a row, what could be: "inversion (3 times): each holds ...", new memory. */
char *finding_text_summary(const struct result_table *table, uint32_t row);
/* What a thread did, of a row of depth 1 under one of that kind: new memory. */
char *finding_text_participant(const struct table_names *names, const struct result_table *table,
                               uint32_t row, const char *kind);

#endif

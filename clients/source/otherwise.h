/* What else a run could have done (the table `maybe`), in words. */
#ifndef CLIENTS_SOURCE_OTHERWISE_H
#define CLIENTS_SOURCE_OTHERWISE_H

#include "clients/source/table.h"

/* Words of kinds with commas between? */
bool otherwise_are_kinds(const char *list);
/* Returns all words of kinds with commas between, new memory. */
char *otherwise_kinds(void);
/* Of a row of depth 0: its kind. */
const char *otherwise_kind(const struct shown_table *table, uint32_t row);
/* Of such a row, what could be: "inversion (3 times): each holds ...", new memory. */
char *otherwise_finding(const struct shown_table *table, uint32_t row);
/* What a thread did, of a row of depth 1 under one of that kind: new memory. */
char *otherwise_part(const struct table_names *names, const struct shown_table *table, uint32_t row,
                     const char *kind);

#endif

/* The table of what else a run could have done (server/answer/table/maybe.c), in words. */
#ifndef CLIENTS_POET_MAYBE_H
#define CLIENTS_POET_MAYBE_H

#include "clients/poet/tables.h"

/* Words of kinds with commas between? */
bool maybe_are_kinds(const char *list);
/* Of a row of depth 0: its kind. */
const char *maybe_kind(const struct shown_table *table, uint32_t row);
/* What a thread did, of a row of depth 1 under one of that kind: new memory. */
char *maybe_part(const struct table_names *names, const struct shown_table *table, uint32_t row,
                 const char *kind);

#endif

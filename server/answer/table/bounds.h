/* For how long scopes were open at all where only sums of calls are known: between two bounds.
 *
 * A scope was open for at least as long as the thread that had it open longest, and at most as long as all threads
 * together, or the run. */
#ifndef SERVER_ANSWER_TABLE_BOUNDS_H
#define SERVER_ANSWER_TABLE_BOUNDS_H

#include "server/answer/table/table.h"

/* Columns and rows of the table. */
void bounds_fill(const struct table_view *view, struct shown_table *table);

#endif

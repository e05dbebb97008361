/* What processor time tells of the states of a thread (server/run/figures.h).
 *
 * The order alone calls all running that no wait accounts for.  Where it is known how long the thread had a processor, and
 * how long it wanted one in vain (run delay), that time is split: it ran as long as it had a processor; it was ready for
 * as long as the run delay is above what the order calls ready, for that has run delay in it, too; and the rest it was in
 * the system: asleep, or waiting for what no event tells of.  So running is exact, ready is the least that it can be, and
 * what of ready is not seen is in system. */
#ifndef SERVER_ANSWER_TABLE_PROCESSOR_H
#define SERVER_ANSWER_TABLE_PROCESSOR_H

#include "server/answer/table/table.h"

/* Splits the sums of a whole life; false: nothing is known of its processor time, or the table is not about all of it. */
bool processor_split(const struct table_view *view, const struct course_of *course,
                     struct states *sums);

#endif

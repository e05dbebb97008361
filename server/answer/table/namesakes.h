/* Steps of one name that were called from different places say so; who is alone with his name need
 * not. */
#ifndef SERVER_ANSWER_TABLE_NAMESAKES_H
#define SERVER_ANSWER_TABLE_NAMESAKES_H

#include "wire/table.h"

/* Leaves the caller with those steps alone that have a namesake among the rows. */
void disambiguate_names(struct result_table *table);

#endif

/* Looking for rows in the table of the lines of a source (clients/source/lined.h).  -1: there is none. */
#ifndef CLIENTS_VIEW_DRAWER_SOURCEROWS_H
#define CLIENTS_VIEW_DRAWER_SOURCEROWS_H

#include "wire/table.h"

int sourcerows_line(const struct shown_table *table, int number);
int sourcerows_heaviest(const struct shown_table *table);
/* The first with a text in it, in whatever case, from a row on and around. */
int sourcerows_text(const struct shown_table *table, uint32_t from, const char *text);

#endif

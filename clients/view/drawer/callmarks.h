/* Which events of the picture were made in a function, and in those that it was called by; and the other way round: in which
 * row of a table of calls an event was made. */
#ifndef CLIENTS_VIEW_DRAWER_CALLMARKS_H
#define CLIENTS_VIEW_DRAWER_CALLMARKS_H

#include "clients/source/table.h"
#include "wire/shown.h"

struct view;

/* The functions of a row, and of those that it lies below, the innermost first. */
struct callmarks {
    struct callmarks_in {
        struct table_place place; /* address 0: it is a call that waits, or stands for several */
        char *name; /* of a type of event, where that is it; or of a function */
    } *in;
    uint32_t count;
};

void callmarks_take(struct callmarks *marks, const struct table_names *names,
                    const struct shown_table *table, int row); /* -1: none */
/* Marks the events of the picture that were made there; whoever marks tells NEWS_HITS. */
void callmarks_mark(struct view *view, const struct callmarks *marks);
void callmarks_free(struct callmarks *marks); /* empties it */

/* The row in which an event was made, -1: none is that.  deep: the table is a tree; else a row is a function. */
int callmarks_row(const struct shown_table *table, const struct table_names *names,
                  const struct shown_event *event, bool deep);
/* The row of a function, the first of it; -1: there is none. */
int callmarks_function(const struct shown_table *table, const struct table_names *names,
                       struct table_place function);

#endif

/* Which events of the picture were made in a function, and in those that it was called by; and the
 * other way round: in which row of a table of calls an event was made. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_MARKS_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_MARKS_H

#include "clients/connection/result_table.h"
#include "wire/trace_view.h"

struct view;

/* The functions of a row, and of those that it lies below, the innermost first. */
struct call_marks {
    struct call_marks_function {
        struct table_place place; /* address 0: it is a call that waits, or stands for several */
        char *name; /* of a type of event, where that is it; or of a function */
    } *in;
    uint32_t count;
};

void call_marks_set_row(struct call_marks *marks, const struct table_names *names,
                        const struct result_table *table, int row); /* -1: none */
/* Marks the events of the picture that were made there; whoever marks tells NOTIFY_HITS. */
void call_marks_mark(struct view *view, const struct call_marks *marks);
void call_marks_free(struct call_marks *marks); /* empties it */

/* The row in which an event was made, -1: none is that.  deep: the table is a tree; else a row is a
 * function. */
int call_marks_find_row(const struct result_table *table, const struct table_names *names,
                        const struct event_info *event, bool deep);
/* The row of a function, the first of those of depth 0, else of others; -1: there is none. */
int call_marks_find_function_row(const struct result_table *table, const struct table_names *names,
                                 struct table_place function);

#endif

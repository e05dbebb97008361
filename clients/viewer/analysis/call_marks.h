/* Events made in a function with its callers, marked in the diagram; and conversely the row of a
 * call table in which an event was made. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_MARKS_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_MARKS_H

#include "clients/connection/result_table.h"
#include "wire/trace_view.h"

struct view;

/* The functions of a row, and of those above it, the innermost first. */
struct call_marks {
    struct call_marks_function {
        struct table_place place; /* address 0: a call that waits, or several */
        char *name; /* of an event type, for a call that waits; or of a function */
    } *in;
    uint32_t count;
};

void call_marks_set_row(struct call_marks *marks, const struct table_names *names,
                        const struct result_table *table, int row); /* -1: none */
/* Marks the events in the diagram that were made there. The caller sends NOTIFY_HITS. */
void call_marks_mark(struct view *view, const struct call_marks *marks);
void call_marks_free(struct call_marks *marks); /* leaves it empty */

/* Returns the row in which an event was made, -1: none. deep: the table is a tree; else each row is
 * a function. */
int call_marks_find_row(const struct result_table *table, const struct table_names *names,
                        const struct event_info *event, bool deep);
/* Returns the row of a function, the first one of depth 0, else of any depth; -1: none. */
int call_marks_find_function_row(const struct result_table *table, const struct table_names *names,
                                 struct table_place function);

#endif

/* Hold points (wire/schedule_control.h) that steer a program towards a predicted bug, from the rows
 * of a table (bug_prediction.h). */
#ifndef CLIENTS_CLI_HOLD_POINTS_H
#define CLIENTS_CLI_HOLD_POINTS_H

#include "clients/metadata/trace_metadata.h"
#include "clients/cli/command.h"
#include "wire/schedule_control.h"
#include "wire/table_rows.h"

struct hold_points {
    struct schedule_control head;
    bool libraries; /* calls in libraries must be recorded, too */
    const char *proof; /* what a run proves in which the interleaving occurred; NULL: nothing */
    const char *unsure; /* why it may not occur; NULL: no such reason is known */
    /* For a lost signal: where it is sent, and where its waiter waits; count 0: unknown. */
    struct hold_point signal, wait;
};

struct schedule_control hold_points_unresolved(void); /* no points yet */
/* Sets the call site and event type of a point; returns false if they are unknown. */
bool hold_points_point(struct hold_point *point, const struct trace_metadata *book,
                       struct table_place place, const char *type);
/* Creates the file, mapped as in the programs; returns false after reporting an error. */
bool hold_points_file(const struct command *command, char *path, size_t size,
                      struct schedule_control **led);

/* Returns the index of the row of depth 0 with that number, or row_count. */
uint32_t hold_points_find(const struct result_table *table, int64_t number);
/* Returns the numbers of all rows of depth 0 in their order, to be freed. */
unsigned *hold_points_numbers(const struct result_table *table, unsigned *count);
/* Returns false with the reason in *why if the program cannot be steered there. */
bool hold_points_make(struct hold_points *steering, const struct trace_metadata *book,
                      const struct result_table *table, uint32_t row, const char **why);
/* Returns whether the deciding threads arrived and were unblocked because the condition was met. */
bool hold_points_order_occurred(const struct schedule_control *head);

#endif

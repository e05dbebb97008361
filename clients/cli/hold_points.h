/* How a program is led to what else it could have done: points (wire/schedule_control.h), of the
 * rows of a table (bug_prediction.h). */
#ifndef CLIENTS_CLI_HOLD_POINTS_H
#define CLIENTS_CLI_HOLD_POINTS_H

#include "clients/metadata/trace_metadata.h"
#include "clients/cli/command.h"
#include "wire/schedule_control.h"
#include "wire/table_rows.h"

struct hold_points {
    struct schedule_control head;
    bool libraries; /* calls of libraries are to be recorded, too */
    /* Of a signal that would be lost: where it is made, and where its waiter waits; count 0: not
     * known. */
    struct hold_point signal, wait;
};

struct schedule_control hold_points_unresolved(void); /* no points yet */
/* Sets where a point is, and of which type; false: that is not known. */
bool hold_points_point(struct hold_point *point, const struct trace_metadata *book,
                       struct table_place place, const char *type);
/* Makes the file, mapped as programs have it; false with a complaint. */
bool hold_points_file(const struct command *command, char *path, size_t size,
                      struct schedule_control **led);

/* Of the row of depth 0 with that number: its index, or row_count. */
uint32_t hold_points_find(const struct result_table *table, int64_t number);
/* False: *why says why it cannot be led there. */
bool hold_points_make(struct hold_points *steering, const struct trace_metadata *book,
                      const struct result_table *table, uint32_t row, const char **why);
/* Did whoever decides it come, and was it let go because all was as it should be? */
bool hold_points_order_occurred(const struct schedule_control *head);

#endif

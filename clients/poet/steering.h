/* How a program is led to what else it could have done: points (wire/steer.h), of the rows of a table (maybe.h). */
#ifndef CLIENTS_POET_STEERING_H
#define CLIENTS_POET_STEERING_H

#include "clients/book/book.h"
#include "clients/poet/command.h"
#include "wire/steer.h"
#include "wire/table.h"

struct steering {
    struct steer_head head;
    bool libraries; /* calls of libraries are to be recorded, too */
    /* Of a signal that would be lost: where it is made, and where its waiter waits; count 0: not
     * known. */
    struct steer_point signal, wait;
};

struct steer_head steering_nowhere(void); /* no points yet */
/* Sets where a point is, and of which type; false: that is not known. */
bool steering_point(struct steer_point *point, const struct book *book, struct table_place place,
                    const char *type);
/* Makes the file, mapped as programs have it; false with a complaint. */
bool steering_file(const struct command *command, char *path, size_t size, struct steer_head **led);

/* Of the row of depth 0 with that number: its index, or row_count. */
uint32_t steering_find(const struct shown_table *table, int64_t number);
/* False: *why says why it cannot be led there. */
bool steering_make(struct steering *steering, const struct book *book,
                   const struct shown_table *table, uint32_t row, const char **why);
/* Did whoever decides it come, and was it let go because all was as it should be? */
bool steering_happened(const struct steer_head *head);

#endif

/* How a program is led to what else it could have done: points (wire/steer.h), of the rows of a table (maybe.h). */
#ifndef CLIENTS_POET_STEERING_H
#define CLIENTS_POET_STEERING_H

#include "clients/book/book.h"
#include "wire/steer.h"
#include "wire/table.h"

struct steering {
    struct steer_head head;
    bool libraries; /* calls of libraries are to be recorded, too */
};

/* Of the row of depth 0 with that number: its index, or row_count. */
uint32_t steering_find(const struct shown_table *table, int64_t number);
/* False: *why says why it cannot be led there. */
bool steering_make(struct steering *steering, const struct book *book,
                   const struct shown_table *table, uint32_t row, const char **why);
/* Did whoever decides it come, and was it let go because all was as it should be? */
bool steering_happened(const struct steer_head *head);

#endif

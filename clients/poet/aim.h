/* The hang that is to be proved (a row of the table `maybe`): of another one nothing is proved. */
#ifndef CLIENTS_POET_AIM_H
#define CLIENTS_POET_AIM_H

#include "clients/book/book.h"
#include "clients/source/waits.h"
#include "wire/table.h"

#include <stdbool.h>
#include <stddef.h>

struct aim {
    bool cycle,
        waking; /* threads wait for each other; or to be woken, and are not; neither: any hang is */
    char **names; /* of the lines that it is about: in another run they have other numbers */
    size_t count, room;
};

void aim_make(struct aim *aim, const struct book *book, const struct shown_table *table,
              uint32_t row);
/* Does who waits in this run, whose lines `book` names, hang so? */
bool aim_is(const struct aim *aim, const struct waits *waits, const struct book *book);
void aim_free(struct aim *aim);

#endif

/* Two runs in one book, for a picture of both: the lines of the second one are numbered behind those of the first.
 *
 * Event types are those of the first, by name, and what only the second has behind them.  What both are drawn by is
 * that of the books, which must outlive this. */
#ifndef CLIENTS_BOOK_BOTH_H
#define CLIENTS_BOOK_BOTH_H

#include "clients/book/book.h"

struct both {
    struct book book;
    const struct book *of[2];
    uint32_t *types; /* of the second one, by code - 1 */
};

/* Both books have all their lines, with labels. */
void both_make(struct both *both, const struct book *first, const struct book *second);
void both_free(struct both *both); /* empties it */

uint32_t both_line(const struct both *both, unsigned run, uint32_t line); /* 0 stays 0 */
struct ref both_ref(const struct both *both, unsigned run, struct ref at);
/* Which run a line of `both` is of, and which line of that; likewise an event. */
unsigned both_run(const struct both *both, uint32_t line);
struct ref both_own(const struct both *both, struct ref at);
/* An event as it is in its run: from then on as it is in `both`.  Hidden lines stay what they are. */
void both_event(const struct both *both, unsigned run, struct shown_event *event);

#endif

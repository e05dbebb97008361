/* Two books as one: what the second one names comes behind all of the first, under other numbers. */
#ifndef CLIENTS_BOOK_JOINED_H
#define CLIENTS_BOOK_JOINED_H

#include "clients/book/book.h"

struct joined { /* by so much the numbers of the second one grew */
    uint32_t lines, hidden, types, processes;
    uint64_t groups;
};

/* other: empty, then.  Kinds that both describe look as the first one says. */
struct joined book_join(struct book *book, struct book *other);
/* A row that is no line of a run, only words; its number. */
uint32_t book_heading(struct book *book, const char *words);

uint32_t joined_line(const struct joined *joined, uint32_t line); /* 0 stays 0 */
struct ref joined_ref(const struct joined *joined, struct ref ref);
/* An event of the second run as one of both. */
void joined_event(const struct joined *joined, struct shown_event *event);

#endif

/* Events, waits and cycles in words: each sentence is written here, once. */
#ifndef CLIENTS_BOOK_SAY_H
#define CLIENTS_BOOK_SAY_H

#include "clients/book/book.h"
#include "wire/found.h"

/* "T:main: create (1:3) about T:worker, together with 2:1 T:worker “a text”".  The caller's to free. */
char *say_event(const struct book *book, const struct shown_event *event);

/* "(pending: it waits for its partner)", with a space before it, or "". */
const char *say_state(const struct shown_event *event);

/* "T:main", "waits for", "M:m": who, does what, about what.  Valid as long as the book stays as it is. */
struct said {
    const char *who, *does, *about;
};
struct said say_wait(const struct book *book, const struct shown_wait *wait);

/* "held by T:worker since event 2:17" */
void say_holder(char *s, size_t size, const struct book *book, const struct shown_holder *holder);

#endif

/* What each thread does, as slices that nest, one after the other: it runs, is in a monitor, waits there.
 *
 * The same rules as the server's (server/run/doing.h), said of one thread at a time: a change closes those slices that
 * end with it and opens those that begin. */
#ifndef CLIENTS_POET_TRACKS_H
#define CLIENTS_POET_TRACKS_H

#include "clients/book/book.h"
#include "wire/shown.h"

struct tracks;

/* Who hears of slices: of a line's track, now; name NULL: the innermost one ends. */
typedef void tracks_tell(void *context, uint32_t line, const char *name);

struct tracks *tracks_new(const struct book *book, tracks_tell *tell, void *context);
/* The next event of the run. */
void tracks_take(struct tracks *tracks, const struct shown_event *event);
/* Closes what is open on a line's track. */
void tracks_close(struct tracks *tracks, uint32_t line);
bool tracks_open(const struct tracks *tracks, uint32_t line); /* is anything open there? */
void tracks_free(struct tracks *tracks);

#endif

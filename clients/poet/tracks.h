/* What each thread does, as slices that nest, one after the other: it runs, is in a monitor, waits
 * there.
 *
 * The same rules as the server's (server/run/doing.h), said of one thread at a time: a change
 * closes those slices that end with it and opens those that begin. */
#ifndef CLIENTS_POET_TRACKS_H
#define CLIENTS_POET_TRACKS_H

#include "clients/book/book.h"
#include "wire/shown.h"

struct thread_slices;

/* Who hears of slices: of a line's track, now; name NULL: the innermost one ends. */
typedef void tracks_tell(void *context, uint32_t line, const char *name);

struct thread_slices *thread_slices_new(const struct trace_metadata *book, tracks_tell *tell,
                                        void *context);
/* The next event of the run. */
void thread_slices_add_event(struct thread_slices *tracks, const struct event_info *event);
/* Closes what is open on a line's track. */
void thread_slices_close(struct thread_slices *tracks, uint32_t line);
bool thread_slices_open(const struct thread_slices *tracks,
                        uint32_t line); /* is anything open there? */
void thread_slices_free(struct thread_slices *tracks);

#endif

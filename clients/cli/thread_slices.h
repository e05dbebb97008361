/* Activities of each thread as nested, sequential slices: it runs, is in a monitor, waits there.
 *
 * They follow the rules of the server (server/run/state_timeline.h), one thread at a time: a
 * change closes the slices that end with it and opens those that begin. */
#ifndef CLIENTS_CLI_THREAD_SLICES_H
#define CLIENTS_CLI_THREAD_SLICES_H

#include "clients/metadata/trace_metadata.h"
#include "wire/trace_view.h"

struct thread_slices;

/* Callback: a slice begins on a line's track now; name NULL: the innermost one ends. */
typedef void tracks_tell(void *context, uint32_t line, const char *name);

struct thread_slices *thread_slices_new(const struct trace_metadata *book, tracks_tell *tell,
                                        void *context);
/* Processes the next event of the run. */
void thread_slices_add_event(struct thread_slices *tracks, const struct event_info *event);
/* Closes all open slices on a line's track. */
void thread_slices_close(struct thread_slices *tracks, uint32_t line);
bool thread_slices_open(const struct thread_slices *tracks,
                        uint32_t line); /* whether any slice is open there */
void thread_slices_free(struct thread_slices *tracks);

#endif

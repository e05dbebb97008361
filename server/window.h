/* Windows and densities as jobs: a viewer's question that is worked on in steps, so that a large one
 * holds up nobody. */
#ifndef SERVER_WINDOW_H
#define SERVER_WINDOW_H

#include "server/answer.h"

struct window_job;

/* Takes the request over.  old: an earlier job of the viewer, done, that may be used again, or NULL;
 * it is freed either way. */
struct window_job *window_begin(const struct run *run, struct window_request *request,
                                struct window_job *old);
bool window_step(struct window_job *job, uint64_t budget); /* true: done */
void window_put(struct window_job *job, struct out *out);  /* once it is done */
uint32_t window_id(const struct window_job *job);
size_t window_weight(const struct window_job *job); /* events that it remembers */
void window_free(struct window_job *job);

struct density_job;
struct density_job *density_begin(const struct run *run, struct density_request *request);
bool density_step(struct density_job *job, uint64_t budget);
void density_put(struct density_job *job, struct out *out);
uint32_t density_id(const struct density_job *job);
void density_free(struct density_job *job);

/* Lines that are drawn when no rows are asked for, by line - 1. */
bool window_draws(const struct run *run, uint32_t line);

#endif

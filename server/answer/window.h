/* Windows and densities as jobs: a viewer's question that is worked on in steps, so that a large one
 * holds up nobody. */
#ifndef SERVER_ANSWER_WINDOW_H
#define SERVER_ANSWER_WINDOW_H

#include "server/answer/answer.h"
#include "server/answer/jobs.h"
#include "wire/asked.h"

struct window_job;

/* Takes the request over.  old: an earlier job of the viewer, done, that may be used again, or NULL;
 * it is freed either way. */
struct window_job *window_begin(const struct run *run, struct window_request *request,
                                struct window_job *old);
bool window_step(struct window_job *job, uint64_t budget); /* true: done */
void window_put(struct window_job *job, struct out *out);  /* once it is done */
void window_free(struct window_job *job);
/* A job that is not wanted any more: can it be used again (window_begin)? */
bool window_left(struct window_job *job);
extern const struct job_sort window_jobs;

struct density_job;
struct density_job *density_begin(const struct run *run, const struct density_request *request);
extern const struct job_sort density_jobs;

/* The lines that are drawn when no rows are asked for, in their order; the caller's to free. */
uint32_t *window_rows(const struct run *run, uint32_t *count);

#endif

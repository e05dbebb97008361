/* What a viewer waits for, worked on in steps so that a large question holds up nobody: windows,
 * densities, questions about events, searches.  Of each sort the oldest is worked on first. */
#ifndef SERVER_ANSWER_JOBS_H
#define SERVER_ANSWER_JOBS_H

#include "wire/limits.h"
#include "wire/message.h"

/* A sort of job.  step: true when there is something to put; put: true when that was all of it. */
struct job_sort {
    bool (*step)(void *job, uint64_t budget);
    bool (*put)(void *job, struct out *out);
    void (*free)(void *job);
    unsigned most; /* at once */
};

struct jobs {
    const struct job_sort *sort;
    struct job {
        uint32_t id;
        void *it;
    } items[LIMIT_WINDOWS];
    unsigned count;
};

/* Takes a job over.  One with the same id goes; so does the oldest if there are too many. */
void jobs_add(struct jobs *jobs, uint32_t id, void *job);
bool jobs_full(const struct jobs *jobs);
void jobs_cancel(struct jobs *jobs, uint32_t id);
void *jobs_take(struct jobs *jobs, uint32_t id); /* the caller's from then on; NULL: there is none */
void jobs_drop_all(struct jobs *jobs);
/* A step of the oldest; true when it has something to put. */
bool jobs_step(struct jobs *jobs, uint64_t budget);
/* Puts it.  The job, the caller's from then on, if that was all of it; else NULL. */
void *jobs_put(struct jobs *jobs, struct out *out);

#endif

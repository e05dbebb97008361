/* Tasks of a run that is repeated: each is held until the thread that ran it comes to that.  The
 * runtime, which would give it to whoever is idle, does not get it before.
 *
 * Threads come for their tasks where the runtime would have given them some: where they wait for
 * tasks, and in barriers.  They wait there until the task that they ran next is there and may run;
 * and where the script is left, or what is awaited does not come in time (poet_replay_timeout_ms),
 * they run whatever there is that they wait for, so that no task is left over.  What a task is
 * after, who is in a group and who waits for whom is looked for among those that have not ended
 * yet. */
#ifndef CLIENTS_LIBPOET_OPENMP_TASK_REPLAY_H
#define CLIENTS_LIBPOET_OPENMP_TASK_REPLAY_H

#include "clients/libpoet/openmp/omp_tasks.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Begins what is kept of a task, from malloc; freed once the task has run. */
struct held_task {
    struct held_task *next;
    struct omp_task *task; /* kept behind it */
    void (*call)(struct held_task *held); /* runs it on the calling thread */
    uint64_t maker; /* the frame */
    const struct team *team;
    bool runs;
};

/* Are tasks that the calling thread makes to be held?  Is any, or is one to be? */
bool task_replay_wanted(void);
bool task_replay_is_needed(void);
/* From here on none of its team is: the runtime has to know of some, and gives them to anybody. */
void task_replay_release_team(void);
/* A task that was just made, and told, by the calling thread: others may run it at once. */
void task_replay_add(struct held_task *held);
/* Did the maker run it right here?  Or any other one? */
bool task_replay_is_next(const struct omp_task *task);
bool task_replay_any_is_next(void);

/* The calling thread runs what it ran, until these have ended, or, of its team, begun: those that
 * it made; those of the group that it is in; those that a task is after, which it has made and not
 * run; all. */
void task_replay_await_children(void);
void task_replay_await_group(void);
void task_replay_await_before(const struct omp_task *task);
void task_replay_await_team(void);
/* Those that a task is after, though what it ran meanwhile is done. */
void task_replay_end_before(const struct omp_task *task);
/* Behind a barrier: what it ran in there that others made once they were through. */
void task_replay_resume(void);

#pragma GCC visibility pop
#endif

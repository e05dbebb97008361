/* Replay of tasks: each task is held until the thread that ran it in the recorded run reaches that
 * point. The runtime, which would give it to any idle thread, does not get it before.
 *
 * Threads fetch their tasks where the runtime would have given them some: where they wait for
 * tasks, and in barriers. They wait there until the task that they must run next exists and may
 * run. If the schedule is abandoned, or an awaited task does not come in time
 * (poet_replay_timeout_ms), they run any task that they wait for, so that no task is left over.
 * Dependences, group members and waiters are looked up among the tasks that have not ended yet. */
#ifndef CLIENTS_LIBPOET_OPENMP_TASK_REPLAY_H
#define CLIENTS_LIBPOET_OPENMP_TASK_REPLAY_H

#include "clients/libpoet/openmp/omp_tasks.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Header of a held task, from malloc; freed once the task has run. */
struct held_task {
    struct held_task *next;
    struct omp_task *task; /* kept behind it */
    void (*call)(struct held_task *held); /* runs it on the calling thread */
    uint64_t maker; /* the frame */
    const struct team *team;
    bool runs;
};

/* Return whether tasks that the calling thread creates must be held; whether any task is or must be
 * held. */
bool task_replay_wanted(void);
bool task_replay_is_needed(void);
/* From here on no task of its team is held: the runtime must know some of them, and gives them to
 * any thread. */
void task_replay_release_team(void);
/* Adds a task that the calling thread has just created and recorded: other threads may run it
 * immediately. */
void task_replay_add(struct held_task *held);
/* Return whether the creator ran it immediately in the recorded run; whether it ran any other
 * task. */
bool task_replay_is_next(const struct omp_task *task);
bool task_replay_any_is_next(void);

/* The calling thread runs what it ran in the recorded run, until these tasks have ended, or those
 * of its team have begun: its children; those of the group that it is in; those that a task depends
 * on, which it has created and not run; all. */
void task_replay_await_children(void);
void task_replay_await_group(void);
void task_replay_await_before(const struct omp_task *task);
void task_replay_await_team(void);
/* Runs those that a task depends on, after the recorded tasks in between are done. */
void task_replay_end_before(const struct omp_task *task);
/* After a barrier: runs what it ran in there that other threads created after they had passed. */
void task_replay_resume(void);

#pragma GCC visibility pop
#endif

/* Tasks: their creators, the threads that run them, and the threads that wait for their ends.
 *
 * A task is created by another (each member of a team begins as one), which counts it: the keys
 * that pair its spawn, run and end follow from that count, so no state of a pending task is kept
 * but what travels with it. It runs on some thread of the team, between two events of that
 * thread. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMP_TASKS_H
#define CLIENTS_LIBPOET_OPENMP_OMP_TASKS_H

#include "clients/libpoet/openmp/task_depends.h"
#include "clients/libpoet/openmp/team.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A task that was created. */
struct omp_task {
    uint64_t id;
    struct task_group *group;
    uint64_t *before; /* the ends of those that it depends on, from malloc; freed when it runs */
    uint32_t before_count;
    poet_event_t spawn; /* line 0: not recorded */
    bool doubtful; /* it may depend on more tasks */
};

/* Initializes a child of the task that the thread is in, without dependences so far. spawn: records
 * it. */
void omp_task_make(struct omp_task *task, bool detached);
/* unclear: it may depend on more tasks. */
void omp_task_depends(struct omp_task *task, const void *place, enum dependence how, bool unclear);
void omp_task_spawn(struct omp_task *task, const void *site);
/* The task begins to run here, in `frame`. */
struct task_frame *omp_task_run_begin(struct omp_task *task, struct task_frame *frame,
                                      const void *body);
void omp_task_run_end(const struct omp_task *task, struct task_frame *frame,
                      struct task_frame *outer, const void *body);

/* Returns whether it comes after the end of another task of the same creator. */
bool omp_task_is_after(const struct omp_task *task, const struct omp_task *other);

/* The end of a task is not traced: from now on, waits for tasks are uncertain. */
void omp_tasks_set_untraced(void);

/* Waiting for children: taskwait_begin() returns whether there is anything to record; and
 * afterwards. */
bool taskwait_begin(const void *site);
void taskwait_end(const void *site);
/* Waits only for those on which a task with these dependences would depend; no such task is
 * created. */
bool taskwait_like(struct omp_task *like);
void taskwait_for_begin(const void *site);
void taskwait_for_end(struct omp_task *like, const void *site);

void taskgroup_begin(void);
/* Returns false if there are no tasks in it, unless `anyway`. */
bool taskgroup_waits(bool anyway, const void *site);
void taskgroup_end(bool waited, const void *site);

#pragma GCC visibility pop
#endif

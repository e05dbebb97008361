/* Tasks: who made them, who runs them, and who waits for their ends.
 *
 * A task is made by another (each member of a team begins as one), which counts it: the keys by
 * which its spawn, run and end meet follow from that count, so nothing is kept of a task that is
 * under way but what travels with it. It runs on some thread of the team, between two events of
 * that. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMP_TASKS_H
#define CLIENTS_LIBPOET_OPENMP_OMP_TASKS_H

#include "clients/libpoet/openmp/task_depends.h"
#include "clients/libpoet/openmp/task_frames.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A task that was made. */
struct omp_task {
    uint64_t id;
    struct task_group *group;
    uint64_t *before; /* the ends of those that it depends on, from malloc; freed when it runs */
    uint32_t before_count;
    poet_event_t spawn; /* line 0: it was not recorded */
    bool doubtful; /* it may depend on more */
};

/* A child of the one that the thread is in, that depends on nothing yet.  spawn: tells it. */
void omp_task_make(struct omp_task *task, bool detached);
/* unclear: it may come after more than that. */
void omp_task_depends(struct omp_task *task, const void *place, enum dependence how, bool unclear);
void omp_task_spawn(struct omp_task *task, const void *site);
/* It runs here, in `frame`. */
struct task_frame *omp_task_run_begin(struct omp_task *task, struct task_frame *frame,
                                      const void *body);
void omp_task_run_end(const struct omp_task *task, struct task_frame *frame,
                      struct task_frame *outer, const void *body);

/* Of others of the same maker: is it after that one's end? */
bool omp_task_is_after(const struct omp_task *task, const struct omp_task *other);

/* An end is out of sight: whoever waits for tasks from now on cannot say for which. */
void omp_tasks_set_untraced(void);

/* Waiting for children; whether there is anything to tell, and afterwards. */
bool taskwait_begin(const void *site);
void taskwait_end(const void *site);
/* For those alone that a task would depend on that is like this one, which is none. */
bool taskwait_like(struct omp_task *like);
void taskwait_for_begin(const void *site);
void taskwait_for_end(struct omp_task *like, const void *site);

void taskgroup_begin(void);
/* false: there are no tasks in it, unless `anyway`. */
bool taskgroup_waits(bool anyway, const void *site);
void taskgroup_end(bool waited, const void *site);

#pragma GCC visibility pop
#endif

/* Teams: the threads of one parallel region, and the barriers at which they synchronize.
 *
 * A runtime's own barrier at the end of a region does not show when its workers leave it: they
 * stay in there until there is other work. Each member therefore waits right before that barrier
 * until all members have come to the end of the region. That orders nothing that the region's
 * end does not order, and passes no barrier of the runtime: the members synchronize in the
 * program's barriers only. A member that waits there runs no tasks; if the team has created
 * some, each member passes one additional barrier of the runtime instead.
 *
 * In a region that can be cancelled, not all members need to pass a barrier: there messages
 * replace the synchronization point of all. */
#ifndef CLIENTS_LIBPOET_OPENMP_TEAM_H
#define CLIENTS_LIBPOET_OPENMP_TEAM_H

#include "clients/libpoet/openmp/omp_events.h"
#include "clients/libpoet/openmp/task_depends.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- task frames ----
 *
 * A frame says which task a thread is in. Each member of a team begins as a task, too, and has a
 * frame. */

struct task_group; /* a taskgroup */

/* A task on one thread, with its children. */
struct task_frame {
    uint64_t id;
    uint32_t made, awaited; /* children; those of them that were waited for */
    struct task_group *group;
    struct task_dependences *depends;
    bool doubtful; /* a child ends at an untraced time, when the program fulfills its event */
    enum omp_event waits_by; /* the event by which it waits, and may run others meanwhile, */
    bool waits; /* if it does */
    poet_line_t waits_for;
    const void *waits_at;
};

/* Returns the frame that the calling thread is in; never NULL. */
struct task_frame *task_frame_current(void);
uint64_t task_frame_unique(void); /* Returns an id for a frame that is not a task's. */
/* The calling thread is in the frame until task_frame_end(), with what task_frame_begin()
 * returned. */
struct task_frame *task_frame_begin(struct task_frame *frame, uint64_t id,
                                    struct task_group *group);
void task_frame_end(struct task_frame *frame, struct task_frame *outer);
/* From now on the thread is here. */
void task_frame_wait_begin(enum omp_event by, poet_line_t line, const void *site);
void task_frame_wait_end(void);
bool task_frame_is_waiting(enum omp_event by);
/* The calling thread is a worker of the runtime: it is idle while it is in no frame. */
void task_frame_set_pooled(void);
/* The thread resumes a frame that had begun. Returns the frame that it was in. */
struct task_frame *task_frame_resume(struct task_frame *frame);

/* ---- members ---- */

#define ORDERED_LOOPS 16u /* loops that members of a team may be in at the same time */

struct team {
    uint64_t id;
    poet_line_t line;       /* of the region */
    const void *master;     /* the thread: an address that only it has */
    const void *site;       /* of the region's begin */
    const void *body;       /* the function that every member runs */
    uint32_t of;            /* number of the thread that begins it in an outer team, */
    bool nested;            /*   if that is so */
    bool followed;          /* its begin was recorded */
    bool cancellable;       /* members may leave barriers without having synchronized */
    _Atomic uint32_t size;  /* 0: no member has begun yet */
    _Atomic uint64_t passed; /* the last barrier that a member is known to have passed */
    _Atomic uint64_t unmet; /* from this barrier on not all members are recorded */
    _Atomic uint32_t done;  /* members that recorded their end by a message */
    _Atomic bool tasks;     /* it has created tasks: set by team_makes_tasks() */
    _Atomic uint32_t over;  /* members that have come to the end of the region */
    _Atomic uint64_t came;  /* the last barrier that a member has arrived at; */
    _Atomic uint64_t fewest; /*   how many the members at the end have passed, the fewest */
    /* a member is at the end without the barrier that another member has arrived at */
    _Atomic bool uneven;
    _Atomic uint32_t changes, sleepers; /* of these (futex); members that wait for a change */
    _Atomic bool doubtful; /* an action of a member or a task is not recorded */
    _Atomic bool later; /* a member that recorded its end may run tasks after that */
    /* its tasks are left to the runtime, even in a replay (task_replay.h) */
    _Atomic bool apart;
    atomic_flag sharing; /* worksharing.h */
    uint64_t copies; /* under it: blocks of `single copyprivate` that a member has come to */
    atomic_flag ordering;
    struct ordered {
        uint64_t loop, sections;
    } ordered[ORDERED_LOOPS]; /* under it */
};

/* A thread's membership in a team. */
struct team_member {
    struct team *team;
    struct team_member *outer; /* in which the team is nested */
    struct task_frame frame; /* of its implicit task */
    struct task_frame *outer_frame;
    uint64_t barriers, loops; /* that it has come to the end of */
    uint64_t copies; /* blocks of `single copyprivate` that it has come to */
    uint32_t number;
    bool inside; /* it is in a barrier, */
    const void *inside_at;
    bool over; /* it has synchronized with the others at the end */
};

/* Returns the member that the calling thread is; NULL: of no known team. */
struct team_member *member_current(void);
const void *team_thread_address(void); /* Returns an address that only the calling thread has. */

/* Called by the master, before the region and after it. */
void team_begin(struct team *team, const void *body, bool cancellable, const void *site);
void team_end(struct team *team, const void *site);
/* A thread of the team creates a task: members that wait at the end must run tasks. */
void team_makes_tasks(struct team *team);

/* A thread takes part in a team of `size` as number `number`, until its part is done. Then it waits
 * for the others: with `barrier` if it may have to run tasks meanwhile; NULL: not. */
void member_begin(struct team_member *member, struct team *team, uint32_t size, uint32_t number);
void member_over(struct team_member *member, void (*barrier)(const void *context),
                 const void *context);
void member_end(struct team_member *member);

/* Called right before and right after a barrier, explicit or at the end of a construct. */
void team_barrier_arrive(struct team_member *member, const void *site);
void team_barrier_pass(struct team_member *member, bool cancelled, const void *site);
/* A thread that is still in a barrier may run tasks that others created after they had passed it:
 * it is recorded as having passed before it does that. */
void team_barrier_late(struct team_member *member);
/* it left at once, and will come again */
void team_barrier_retry(struct team_member *member, const void *site);

#pragma GCC visibility pop
#endif

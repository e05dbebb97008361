/* Teams: the threads of one parallel region, and the barriers at which they meet.
 *
 * A runtime's own barrier at the end of a region does not tell when its workers may leave it: they
 * stay in there until there is other work.  So each member waits right before that barrier until
 * all members have come to the end of the region.  That orders nothing that the region's end does
 * not order, and no barrier of the runtime is passed for it: the members meet in the program's
 * barriers alone.  A member that waits there runs no tasks; where the team has made some, each
 * member passes one barrier of the runtime more instead.  Where a region can be cancelled, barriers
 * need not be passed by all: there messages take the place of one point for all. */
#ifndef CLIENTS_LIBPOET_OPENMP_TEAM_H
#define CLIENTS_LIBPOET_OPENMP_TEAM_H

#include "clients/libpoet/openmp/omp_events.h"
#include "clients/libpoet/openmp/task_frames.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define ORDERED_LOOPS 16u /* that members of a team may be in at once */

struct team {
    uint64_t id;
    poet_line_t line;       /* of the region */
    const void *master;     /* the thread: the address of something of its own */
    const void *site;       /* of the region's begin */
    const void *body;       /* the function that every member runs */
    uint32_t of;            /* who begins it has this number in a team, */
    bool nested;            /*   if that is so */
    bool followed;          /* its begin was recorded */
    bool cancellable;       /* members may leave barriers without having met */
    _Atomic uint32_t size;  /* 0: nobody has begun yet */
    _Atomic uint64_t passed; /* the last barrier that somebody is known to have passed */
    _Atomic uint64_t unmet; /* from this barrier on not all members are recorded */
    _Atomic uint32_t done;  /* members who told their end by a message */
    _Atomic bool tasks;     /* it has made tasks: set by team_makes_tasks() */
    _Atomic uint32_t over;  /* members that have come to the end of the region */
    _Atomic uint64_t came;  /* the last barrier that a member has come to; */
    _Atomic uint64_t fewest; /*   how many the members at the end have passed, the fewest */
    _Atomic bool uneven; /* a member is at the end without the barrier that another has come to */
    _Atomic uint32_t changes, sleepers; /* of these (futex); members that wait for one */
    _Atomic bool doubtful; /* what a member or a task did is not told */
    _Atomic bool later; /* a member that told its end may run tasks behind that */
    /* its tasks are left to the runtime, whatever is repeated (task_replay.h) */
    _Atomic bool apart;
    atomic_flag sharing; /* worksharing.h */
    uint64_t copies; /* under it: blocks of `single copyprivate` that somebody has come to */
    atomic_flag ordering;
    struct ordered {
        uint64_t loop, sections;
    } ordered[ORDERED_LOOPS]; /* under it */
};

/* What one thread is in a team. */
struct team_member {
    struct team *team;
    struct team_member *outer; /* in which the team lies */
    struct task_frame frame; /* of its implicit task */
    struct task_frame *outer_frame;
    uint64_t barriers, loops; /* that it has come to the end of */
    uint64_t copies; /* blocks of `single copyprivate` that it has come to */
    uint32_t number;
    bool inside; /* it is in a barrier, */
    const void *inside_at;
    bool over; /* it has met the others at the end */
};

/* The member that the calling thread is; NULL: of no team that is known. */
struct team_member *member_current(void);
const void *team_thread_address(void); /* something that each thread has of its own */

/* The master's: before the region, and after it. */
void team_begin(struct team *team, const void *body, bool cancellable, const void *site);
void team_end(struct team *team, const void *site);
/* A thread of the team makes a task: members that wait at the end have to help. */
void team_makes_tasks(struct team *team);

/* A thread takes part in a team of `size` as number `number`, until it has done its part.  There it
 * waits for the others: with `barrier` where it may have to run tasks meanwhile; NULL: not. */
void member_begin(struct team_member *member, struct team *team, uint32_t size, uint32_t number);
void member_over(struct team_member *member, void (*barrier)(const void *context),
                 const void *context);
void member_end(struct team_member *member);

/* A barrier, explicit or at the end of a construct: right before, and right after it. */
void team_barrier_arrive(struct team_member *member, const void *site);
void team_barrier_pass(struct team_member *member, bool cancelled, const void *site);
/* Who is still in a barrier that others have passed may run tasks that these made since: before it
 * does that, it is through as well. */
void team_barrier_late(struct team_member *member);
void team_barrier_retry(struct team_member *member,
                        const void *site); /* it was let go on at once, to come again */

#pragma GCC visibility pop
#endif

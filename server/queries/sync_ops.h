/* Synchronization operations of a run (server/analysis/findings.h), made from its events by what
 * the target descriptions say of them, and fed to the prediction of bugs in the order of the log.
 * Not thread-safe. */
#ifndef SERVER_QUERIES_SYNC_OPS_H
#define SERVER_QUERIES_SYNC_OPS_H

#include "base/map.h"
#include "server/analysis/bug_prediction.h"
#include "server/queries/semaphore_locks.h"
#include "server/run/run.h"

#define SYNC_OPS_TYPES 256u

struct sync_ops {
    const struct run *run;
    struct bug_prediction *prediction; /* receives the operations */
    struct must_happen_before sure;
    struct semaphore_locks semaphores;
    struct map forks; /* position -> the event created a process */
    struct map objects; /* process and address of a lock -> its line; or ambiguous */
    uint64_t next, end; /* positions: the next one to read; the end */
    struct order_event *events;
    uint64_t first; /* position of the first one in `events` */
    size_t count;
    uint8_t *locks; /* by kind of line: 1 + its category * 2, + 1 if it is a lock; 0: not yet */
    size_t kind_room;
    /* cache of what the description says of types of events, by a hash of the key */
    struct sync_ops_type {
        uint64_t key; /* 0: none */
        const struct target_event *look; /* NULL: it says nothing */
        uint8_t role; /* an enum target_role */
        bool signals; /* only threads that wait at that time receive it */
        bool reads; /* on a shared line that it acquires: in shared mode */
    } types[SYNC_OPS_TYPES];
    struct sync_ops_waiting { /* by thread: what it waits for */
        uint32_t about; /* the line of the awaited signal; 0: none */
        uint32_t asked; /* the line of an initializer that it requested just now; 0: none */
        uint32_t receiver, place; /* the line on which it waits for any sender; 0: none */
        uint64_t requested; /* 1 + the event that waits for a message of a given sender; 0: none */
        uint64_t began;
        uint64_t blocked; /* 1 + the event that began its wait for another thread; 0: none */
        uint64_t signaled; /* 1 + the event that sent the signal that it is about to handle */
    } *waits;
    size_t wait_room;
    bool cut; /* stopped early at the memory limit, at `next` */
};

/* Prepares to read a run. Both must exist until sync_ops_free(). */
struct sync_ops *sync_ops_new(const struct run *run, struct bug_prediction *prediction);
/* Feeds the operations of the next events, with about `budget` steps. Returns true once all were
 * fed, or the memory limit was reached. */
bool sync_ops_step(struct sync_ops *ops, uint64_t *budget);
void sync_ops_free(struct sync_ops *ops);

#endif

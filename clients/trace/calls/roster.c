/* The threads that there are: each by its id, and how many are recorded. */
#include "clients/trace/calls/roster.h"

#include "clients/trace/core/lock.h"
#include "clients/trace/core/object.h"

#include <stdatomic.h>
#include <stddef.h>

/* The creator and the thread itself both come here.  Whoever is first, the thread has not yet run the
 * program's code: *id is valid and its own.  An entry left by a thread that is gone is overwritten. */
void roster_bind(struct task *task, const pthread_t *id)
{
    latch_take(&task->binding);
    if (!(atomic_fetch_or(&task->flags, TASK_BOUND) & TASK_BOUND)) {
        struct object *entry = object_get((void *)*id, OBJECT_TASK);
        if (entry)
            atomic_store(&entry->task, task);
    }
    latch_give(&task->binding);
}

void roster_bind_self(struct task *task)
{
    pthread_t id = pthread_self();
    roster_bind(task, &id);
}

/* By now the id may be another thread's. */
void roster_unbind(struct task *task, pthread_t id)
{
    struct object *entry = object_find((void *)id, OBJECT_TASK);
    if (entry)
        atomic_compare_exchange_strong(&entry->task, &(struct task *){task}, NULL);
}

struct task *roster_find(pthread_t id)
{
    struct object *entry = object_find((void *)id, OBJECT_TASK);
    return entry ? atomic_load(&entry->task) : NULL;
}

static _Atomic unsigned recorded_threads;

void roster_begin(void) { atomic_fetch_add(&recorded_threads, 1); }
void roster_end(void) { atomic_fetch_sub(&recorded_threads, 1); }
unsigned roster_recorded(void) { return atomic_load(&recorded_threads); }
void roster_forked(void) { atomic_store(&recorded_threads, 0); }

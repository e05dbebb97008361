/* Locks, condition locks and semaphores of the library, which are no monitors. Their
 * constructors are inlined: each begins with its first use. */
#include "objects.h"

#include <fstream>

/* ---- calls of pthread_* ----
 *
 * The library's pthread_mutex_t and pthread_cond_t are such locks. Libraries call these functions,
 * too, such as the one that unwinds stacks; only calls of the program are followed. */

/* A call of the program, until it returns. */
class pthread_call
{
    object *self;

  public:
    pthread_call(const void *called, const char *site)
    {
        section s;
        self = s.self;
        if (self) {
            self->pthread_site = site;
            self->pthread_object = called;
        }
    }
    ~pthread_call()
    {
        if (self)
            self->pthread_site = nullptr;
    }
};

WRAP(int, pthread_mutex_lock, pthread_mutex_t *mutex)
{
    pthread_call call(mutex, SITE);
    return __real_pthread_mutex_lock(mutex);
}

WRAP(int, pthread_mutex_trylock, pthread_mutex_t *mutex)
{
    pthread_call call(mutex, SITE);
    return __real_pthread_mutex_trylock(mutex);
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *mutex)
{
    pthread_call call(mutex, SITE);
    return __real_pthread_mutex_unlock(mutex);
}

WRAP(int, pthread_cond_wait, pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    pthread_call call(condition, SITE);
    return __real_pthread_cond_wait(condition, mutex);
}

WRAP(int, pthread_cond_timedwait, pthread_cond_t *condition, pthread_mutex_t *mutex,
     const struct timespec *limit)
{
    pthread_call call(condition, SITE);
    return __real_pthread_cond_timedwait(condition, mutex, limit);
}

WRAP(int, pthread_cond_signal, pthread_cond_t *condition)
{
    pthread_call call(condition, SITE);
    return __real_pthread_cond_signal(condition);
}

WRAP(int, pthread_cond_broadcast, pthread_cond_t *condition)
{
    pthread_call call(condition, SITE);
    return __real_pthread_cond_broadcast(condition);
}

/* Returns where the program uses a lock, at `site` or by pthread_*; nullptr: a library does. (A
 * pthread_mutex_t is the lock, or has its address.) */
static const char *lock_site(const void *lock, const char *site)
{
    if (!code_is_pthread(site))
        return code_call_of_library(site);
    section s;
    if (!s.self || !s.self->pthread_site)
        return nullptr;
    const void *of = s.self->pthread_object;
    return of == lock || *static_cast<const void *const *>(of) == lock ? s.self->pthread_site
                                                                       : nullptr;
}

/* ---- owner locks and mutex locks ---- */

template <typename T> static bool lock_is_within(const uMutexLock *lock, const T &stream)
{
    const char *at = reinterpret_cast<const char *>(lock),
               *from = reinterpret_cast<const char *>(&stream);
    return at >= from && at < from + sizeof stream;
}

/* Those of cout, ... are objects of the system. */
static const char *lock_name(const uMutexLock *lock)
{
    bool of_stream = lock_is_within(lock, uKernelModule::coutFilebuf) ||
                     lock_is_within(lock, uKernelModule::cerrFilebuf) ||
                     lock_is_within(lock, uKernelModule::clogFilebuf) ||
                     lock_is_within(lock, uKernelModule::cinFilebuf);
    return of_stream ? "uFilebuf" : nullptr;
}

static const object *lock_object(section &s, uMutexLock *lock, const char *site)
{
    return s.self ? object_of_lock(lock, LOCK, s.self, site, lock_name(lock)) : nullptr;
}

/* A pair by which the thread is in the lock, and runs on elsewhere, or no longer is; `inner`: of an
 * owner that holds it more than once, an event of the lock alone. */
static void lock_record(uMutexLock *lock, event_type task, event_type of_lock, event_type inner,
                        bool is_inner, const char *site)
{
    section s;
    const object *o = lock_object(s, lock, site);
    if (o && is_inner)
        mark(s.self, o->line, inner, site);
    else if (o)
        pair(s.self, place_of(s.stack()), task, o->line, of_lock, site);
}

static void lock_acquired(uMutexLock *lock, bool again, const char *site)
{
    lock_record(lock, LOCKS, ACQUIRED, RELOCK, again, site);
}

static void lock_released(uMutexLock *lock, bool inner, const char *site)
{
    lock_record(lock, UNLOCK, RELEASED, INNER_UNLOCK, inner, site);
}

static poet_line_t lock_mark(uMutexLock *lock, event_type type, const char *site)
{
    section s;
    const object *o = lock_object(s, lock, site);
    if (o)
        mark(s.self, place_of(s.stack()), type, site, o);
    return o ? o->line : 0;
}

static void lock_request(uMutexLock *lock, const char *site)
{
    turn_await(lock_mark(lock, ACQUIRE, site), ACQUIRED);
}

/* Returns whether the lock may be tried: not if that failed in the run which is replayed. */
static bool lock_may_try(uMutexLock *lock, const char *site)
{
    if (!turns_are_kept || !site)
        return true;
    if (turn_has_other(LOCKS))
        return false;
    poet_line_t line;
    {
        section s;
        const object *o = lock_object(s, lock, site);
        line = o ? o->line : 0;
    }
    turn_await(line, ACQUIRED);
    return true;
}

static bool lock_is_mine(const uOwnerLock *lock)
{
    section s;
    return lock->owner_ == s.task;
}

WRAP(void, _ZN10uOwnerLock7acquireEv, uOwnerLock *lock)
{
    const char *site = lock_site(lock, SITE);
    bool again = site && lock_is_mine(lock);
    if (site && !again)
        lock_request(lock, site);
    __real__ZN10uOwnerLock7acquireEv(lock);
    if (site)
        lock_acquired(lock, again, site);
}

WRAP(bool, _ZN10uOwnerLock10tryacquireEv, uOwnerLock *lock)
{
    const char *site = lock_site(lock, SITE);
    bool again = site && lock_is_mine(lock), tries = again || lock_may_try(lock, site),
         acquired = tries && __real__ZN10uOwnerLock10tryacquireEv(lock);
    if (site && acquired)
        lock_acquired(lock, again, site);
    else if (site)
        lock_mark(lock, NOT_ACQUIRED, site);
    return acquired;
}

WRAP(void, _ZN10uOwnerLock7releaseEv, uOwnerLock *lock)
{
    const char *site = lock_site(lock, SITE);
    if (site)
        lock_released(lock, lock->count > 1, site);
    __real__ZN10uOwnerLock7releaseEv(lock);
}

WRAP(void, _ZN10uMutexLock7acquireEv, uMutexLock *lock)
{
    lock_request(lock, SITE);
    __real__ZN10uMutexLock7acquireEv(lock);
    lock_acquired(lock, false, SITE);
}

WRAP(bool, _ZN10uMutexLock10tryacquireEv, uMutexLock *lock)
{
    bool acquired = lock_may_try(lock, SITE) && __real__ZN10uMutexLock10tryacquireEv(lock);
    if (acquired)
        lock_acquired(lock, false, SITE);
    else
        lock_mark(lock, NOT_ACQUIRED, SITE);
    return acquired;
}

WRAP(void, _ZN10uMutexLock7releaseEv, uMutexLock *lock)
{
    lock_released(lock, false, SITE);
    __real__ZN10uMutexLock7releaseEv(lock);
}

/* ---- condition locks ---- */

/* A wait for a signal, which releases a lock. */
class lock_wait
{
    uCondLock *condition;
    uMutexLock *lock;
    bool again; /* it acquires the lock again, unless it is a mutex lock */
    const char *site;

  public:
    bool signalled;

    lock_wait(uCondLock *condition, uMutexLock *lock, bool again, event_type type,
              const char *called)
        : condition(condition), lock(lock), again(again), site(lock_site(condition, called)),
          signalled(true)
    {
        if (!site)
            return;
        lock_released(lock, false, site);
        section s;
        const object *o =
            s.self ? object_of_lock(condition, CONDITION_LOCK, s.self, site) : nullptr;
        if (!o)
            return;
        s.self->woken_by = poet_event_t{0, 0};
        mark(s.self, place_of(s.stack()), type, site, o);
    }

    ~lock_wait()
    {
        if (!site)
            return;
        {
            section s;
            const object *o =
                s.self ? object_of_lock(condition, CONDITION_LOCK, s.self, site) : nullptr;
            if (o && signalled)
                mark(s.self, place_of(s.stack()), LOCK_READY, site, o, 0, s.self->woken_by);
            else if (o)
                mark(s.self, place_of(s.stack()), TIMEOUT, site, o);
        }
        if (again)
            lock_acquired(lock, false, site);
    }
};

static bool is_owner(uOwnerLock *) { return true; }
static bool is_owner(uMutexLock *) { return false; }

#define WRAP_WAIT(symbol, lock_type)                                                               \
    WRAP(void, symbol, uCondLock *condition, lock_type *lock)                                      \
    {                                                                                              \
        lock_wait wait(condition, lock, is_owner(lock), LOCK_WAIT, SITE);                          \
        __real_##symbol(condition, lock);                                                          \
    }
#define WRAP_WAIT_INFO(symbol, lock_type)                                                          \
    WRAP(void, symbol, uCondLock *condition, lock_type *lock, uintptr_t info)                      \
    {                                                                                              \
        lock_wait wait(condition, lock, is_owner(lock), LOCK_WAIT, SITE);                          \
        __real_##symbol(condition, lock, info);                                                    \
    }
#define WRAP_TIMED_WAIT(symbol, lock_type, limit_type)                                             \
    WRAP(bool, symbol, uCondLock *condition, lock_type *lock, limit_type limit)                    \
    {                                                                                              \
        lock_wait wait(condition, lock, is_owner(lock), TIMED_LOCK_WAIT, SITE);                    \
        return wait.signalled = __real_##symbol(condition, lock, limit);                           \
    }
#define WRAP_TIMED_WAIT_INFO(symbol, lock_type, limit_type)                                        \
    WRAP(bool, symbol, uCondLock *condition, lock_type *lock, uintptr_t info, limit_type limit)    \
    {                                                                                              \
        lock_wait wait(condition, lock, is_owner(lock), TIMED_LOCK_WAIT, SITE);                    \
        return wait.signalled = __real_##symbol(condition, lock, info, limit);                     \
    }

WRAP_WAIT(_ZN9uCondLock4waitER10uMutexLock, uMutexLock)
WRAP_WAIT(_ZN9uCondLock4waitER10uOwnerLock, uOwnerLock)
WRAP_WAIT_INFO(_ZN9uCondLock4waitER10uMutexLockm, uMutexLock)
WRAP_WAIT_INFO(_ZN9uCondLock4waitER10uOwnerLockm, uOwnerLock)
WRAP_TIMED_WAIT(_ZN9uCondLock4waitER10uMutexLock9uDuration, uMutexLock, uDuration)
WRAP_TIMED_WAIT(_ZN9uCondLock4waitER10uOwnerLock9uDuration, uOwnerLock, uDuration)
WRAP_TIMED_WAIT(_ZN9uCondLock4waitER10uMutexLock5uTime, uMutexLock, uTime)
WRAP_TIMED_WAIT(_ZN9uCondLock4waitER10uOwnerLock5uTime, uOwnerLock, uTime)
WRAP_TIMED_WAIT_INFO(_ZN9uCondLock4waitER10uMutexLockm9uDuration, uMutexLock, uDuration)
WRAP_TIMED_WAIT_INFO(_ZN9uCondLock4waitER10uOwnerLockm9uDuration, uOwnerLock, uDuration)
WRAP_TIMED_WAIT_INFO(_ZN9uCondLock4waitER10uMutexLockm5uTime, uMutexLock, uTime)
WRAP_TIMED_WAIT_INFO(_ZN9uCondLock4waitER10uOwnerLockm5uTime, uOwnerLock, uTime)

/* A signal of the running task. It wakes the first waiting task, or all of them: they learn of
 * it before, while no other signal can choose. */
class lock_signal
{
    unsliced part;
    object *condition;

  public:
    lock_signal(uCondLock *lock, bool all, const char *site) : condition(nullptr)
    {
        section s;
        condition = s.self && site ? object_of_lock(lock, CONDITION_LOCK, s.self, site) : nullptr;
        if (!condition)
            return;
        mark(s.self, place_of(s.stack()), LOCK_SIGNAL, site, condition);
        condition->choosing.acquire();
        lock->spinLock.acquire();
        for (uBaseTaskDL *waits = lock->waiting.head(); waits;
             waits = all ? lock->waiting.succ(waits) : nullptr)
            if (object *o = object_find(&waits->task()))
                o->woken_by = s.self->last;
        lock->spinLock.release();
    }

    ~lock_signal()
    {
        if (condition)
            condition->choosing.release();
    }
};

WRAP(bool, _ZN9uCondLock6signalEv, uCondLock *lock)
{
    lock_signal signal(lock, false, lock_site(lock, SITE));
    return __real__ZN9uCondLock6signalEv(lock);
}

WRAP(bool, _ZN9uCondLock9broadcastEv, uCondLock *lock)
{
    lock_signal signal(lock, true, lock_site(lock, SITE));
    return __real__ZN9uCondLock9broadcastEv(lock);
}

/* ---- locks whose calls are inlined ----
 *
 * Of readers-writer and adaptive locks only the queue is seen: tasks block there, and another one
 * wakes them. It is like a condition lock. */

class queue_wait
{
    object *self;
    const char *site;

  public:
    queue_wait(const uSpinLock *lock, const char *called, void *const *frame)
        : self(nullptr), site(code_call_of_inline(called, frame))
    {
        bool inlined = code_is_inline(called);
        section s;
        object *queue =
            inlined && s.self ? object_of_lock(lock, CONDITION_LOCK, s.self, site) : nullptr;
        if (!queue)
            return;
        self = s.self;
        self->queue = queue;
        self->woken_by = poet_event_t{0, 0};
        mark(self, place_of(s.stack()), LOCK_WAIT, site, queue);
    }

    ~queue_wait()
    {
        if (!self)
            return;
        section s;
        mark(self, place_of(s.stack()), LOCK_READY, site, self->queue, 0, self->woken_by);
        self->queue = nullptr;
    }
};

static bool queue_has(const uBaseTask &task)
{
    section s;
    const object *o = s.self ? object_find(&task) : nullptr;
    return o && o->queue;
}

static void queue_wake(const uBaseTask &task, const char *called, void *const *frame)
{
    if (!queue_has(task))
        return;
    const char *site = code_call_of_inline(called, frame);
    section s;
    object *o = s.self ? object_find(&task) : nullptr;
    if (!o || !o->queue)
        return;
    mark(s.self, place_of(s.stack()), LOCK_SIGNAL, site, o->queue);
    o->woken_by = s.self->last;
}

WRAP(void, _ZN3UPP16uProcessorKernel8scheduleEP9uSpinLock, uSpinLock *lock)
{
    queue_wait wait(lock, SITE, FRAME);
    __real__ZN3UPP16uProcessorKernel8scheduleEP9uSpinLock(lock);
}

WRAP(void, _ZN9uBaseTask4wakeEv, uBaseTask *task)
{
    queue_wake(*task, SITE, FRAME);
    __real__ZN9uBaseTask4wakeEv(task);
}

WRAP(void, _ZN8uCluster13makeTaskReadyER9uSequenceI11uBaseTaskDLEj, uCluster *cluster,
     uSequence<uBaseTaskDL> *tasks, unsigned count)
{
    for (uBaseTaskDL *t = tasks->head(); t; t = tasks->succ(t))
        queue_wake(t->task(), SITE, FRAME);
    __real__ZN8uCluster13makeTaskReadyER9uSequenceI11uBaseTaskDLEj(cluster, tasks, count);
}

/* ---- semaphores ---- */

static void semaphore_record(UPP::uSemaphore *semaphore, event_type task, event_type of_semaphore,
                             const char *called)
{
    const char *site = code_call_of_library(called);
    section s;
    const object *o = s.self ? object_of_lock(semaphore, SEMAPHORE, s.self, site) : nullptr;
    if (o)
        pair(s.self, place_of(s.stack()), task, o->line, of_semaphore, site);
}

/* In a replay, waits for its turn. */
static void semaphore_await(UPP::uSemaphore *semaphore, event_type type, const char *called)
{
    if (!turns_are_kept)
        return;
    poet_line_t line;
    {
        const char *site = code_call_of_library(called);
        section s;
        const object *o = s.self ? object_of_lock(semaphore, SEMAPHORE, s.self, site) : nullptr;
        line = o ? o->line : 0;
    }
    turn_await(line, type);
}

static void semaphore_increase(UPP::uSemaphore *semaphore, const char *site)
{
    semaphore_await(semaphore, INCREASED, site);
    semaphore_record(semaphore, V, INCREASED, site);
}

static void semaphore_pass(UPP::uSemaphore *semaphore, const char *site)
{
    semaphore_record(semaphore, PASSED, LOWERED, site);
}

/* A call of P, which may increase another semaphore first, until the task has passed. */
class semaphore_wait
{
    UPP::uSemaphore *semaphore;
    const char *site;

  public:
    bool passed;

    semaphore_wait(UPP::uSemaphore *semaphore, UPP::uSemaphore *first, event_type type,
                   const char *called)
        : semaphore(semaphore), site(code_call_of_library(called)), passed(true)
    {
        if (first)
            semaphore_increase(first, site);
        {
            section s;
            const object *o = s.self ? object_of_lock(semaphore, SEMAPHORE, s.self, site) : nullptr;
            if (o)
                mark(s.self, place_of(s.stack()), type, site, o);
        }
        if (!first && (type == P || !turn_has_other(PASSED)))
            semaphore_await(semaphore, LOWERED, site);
    }

    ~semaphore_wait()
    {
        if (passed) {
            semaphore_pass(semaphore, site);
            return;
        }
        section s;
        const object *o = s.self ? object_of_lock(semaphore, SEMAPHORE, s.self, site) : nullptr;
        if (o)
            mark(s.self, place_of(s.stack()), TIMEOUT, site, o);
    }
};

WRAP(void, _ZN3UPP10uSemaphore1PEv, UPP::uSemaphore *semaphore)
{
    semaphore_wait wait(semaphore, nullptr, P, SITE);
    __real__ZN3UPP10uSemaphore1PEv(semaphore);
}

WRAP(void, _ZN3UPP10uSemaphore1PEm, UPP::uSemaphore *semaphore, uintptr_t info)
{
    semaphore_wait wait(semaphore, nullptr, P, SITE);
    __real__ZN3UPP10uSemaphore1PEm(semaphore, info);
}

WRAP(bool, _ZN3UPP10uSemaphore1PE9uDuration, UPP::uSemaphore *semaphore, uDuration limit)
{
    semaphore_wait wait(semaphore, nullptr, TIMED_P, SITE);
    return wait.passed = __real__ZN3UPP10uSemaphore1PE9uDuration(semaphore, limit);
}

WRAP(bool, _ZN3UPP10uSemaphore1PE5uTime, UPP::uSemaphore *semaphore, uTime limit)
{
    semaphore_wait wait(semaphore, nullptr, TIMED_P, SITE);
    return wait.passed = __real__ZN3UPP10uSemaphore1PE5uTime(semaphore, limit);
}

WRAP(bool, _ZN3UPP10uSemaphore1PEm9uDuration, UPP::uSemaphore *semaphore, uintptr_t info,
     uDuration limit)
{
    semaphore_wait wait(semaphore, nullptr, TIMED_P, SITE);
    return wait.passed = __real__ZN3UPP10uSemaphore1PEm9uDuration(semaphore, info, limit);
}

WRAP(bool, _ZN3UPP10uSemaphore1PEm5uTime, UPP::uSemaphore *semaphore, uintptr_t info, uTime limit)
{
    semaphore_wait wait(semaphore, nullptr, TIMED_P, SITE);
    return wait.passed = __real__ZN3UPP10uSemaphore1PEm5uTime(semaphore, info, limit);
}

WRAP(void, _ZN3UPP10uSemaphore1PERS0_, UPP::uSemaphore *semaphore, UPP::uSemaphore *first)
{
    semaphore_wait wait(semaphore, first, P, SITE);
    __real__ZN3UPP10uSemaphore1PERS0_(semaphore, first);
}

WRAP(void, _ZN3UPP10uSemaphore1PERS0_m, UPP::uSemaphore *semaphore, UPP::uSemaphore *first,
     uintptr_t info)
{
    semaphore_wait wait(semaphore, first, P, SITE);
    __real__ZN3UPP10uSemaphore1PERS0_m(semaphore, first, info);
}

WRAP(bool, _ZN3UPP10uSemaphore1PERS0_9uDuration, UPP::uSemaphore *semaphore, UPP::uSemaphore *first,
     uDuration limit)
{
    semaphore_wait wait(semaphore, first, TIMED_P, SITE);
    return wait.passed = __real__ZN3UPP10uSemaphore1PERS0_9uDuration(semaphore, first, limit);
}

WRAP(bool, _ZN3UPP10uSemaphore1PERS0_5uTime, UPP::uSemaphore *semaphore, UPP::uSemaphore *first,
     uTime limit)
{
    semaphore_wait wait(semaphore, first, TIMED_P, SITE);
    return wait.passed = __real__ZN3UPP10uSemaphore1PERS0_5uTime(semaphore, first, limit);
}

WRAP(bool, _ZN3UPP10uSemaphore4TryPEv, UPP::uSemaphore *semaphore)
{
    if (turn_has_other(PASSED))
        return false;
    semaphore_await(semaphore, LOWERED, SITE);
    bool passed = __real__ZN3UPP10uSemaphore4TryPEv(semaphore);
    if (passed)
        semaphore_pass(semaphore, SITE);
    return passed;
}

WRAP(void, _ZN3UPP10uSemaphore1VEv, UPP::uSemaphore *semaphore)
{
    semaphore_increase(semaphore, SITE);
    __real__ZN3UPP10uSemaphore1VEv(semaphore);
}

WRAP(void, _ZN3UPP10uSemaphore1VEi, UPP::uSemaphore *semaphore, int count)
{
    for (int i = 0; i < count; i++)
        semaphore_increase(semaphore, SITE);
    __real__ZN3UPP10uSemaphore1VEi(semaphore, count);
}

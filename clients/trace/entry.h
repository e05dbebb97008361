/* The functions that we stand before, and how their entries are made. */
#ifndef TRACE_ENTRY_H
#define TRACE_ENTRY_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#pragma GCC visibility push(hidden)

/* Result, member, symbol, parameters. */
#define REAL_CALLS(R)                                                                              \
    R(int, create, pthread_create,                                                                 \
      (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))                            \
    R(int, thrd_create, thrd_create, (thrd_t *, thrd_start_t, void *))                             \
    R(int, join, pthread_join, (pthread_t, void **))                                               \
    R(int, tryjoin, pthread_tryjoin_np, (pthread_t, void **))                                      \
    R(int, timedjoin, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *))         \
    R(int, clockjoin, pthread_clockjoin_np,                                                        \
      (pthread_t, void **, clockid_t, const struct timespec *))                                    \
    R(int, detach, pthread_detach, (pthread_t))                                                    \
    R(int, setname, pthread_setname_np, (pthread_t, const char *))                                 \
    R(int, mutex_init, pthread_mutex_init, (pthread_mutex_t *, const pthread_mutexattr_t *))       \
    R(int, mutex_destroy, pthread_mutex_destroy, (pthread_mutex_t *))                              \
    R(int, mutex_lock, pthread_mutex_lock, (pthread_mutex_t *))                                    \
    R(int, mutex_trylock, pthread_mutex_trylock, (pthread_mutex_t *))                              \
    R(int, mutex_timedlock, pthread_mutex_timedlock,                                               \
      (pthread_mutex_t *, const struct timespec *))                                                \
    R(int, mutex_clocklock, pthread_mutex_clocklock,                                               \
      (pthread_mutex_t *, clockid_t, const struct timespec *))                                     \
    R(int, mutex_unlock, pthread_mutex_unlock, (pthread_mutex_t *))                                \
    R(int, mtx_init, mtx_init, (mtx_t *, int))                                                     \
    R(int, spin_init, pthread_spin_init, (pthread_spinlock_t *, int))                              \
    R(int, spin_destroy, pthread_spin_destroy, (pthread_spinlock_t *))                             \
    R(int, spin_lock, pthread_spin_lock, (pthread_spinlock_t *))                                   \
    R(int, spin_trylock, pthread_spin_trylock, (pthread_spinlock_t *))                             \
    R(int, spin_unlock, pthread_spin_unlock, (pthread_spinlock_t *))                               \
    R(int, rwlock_init, pthread_rwlock_init, (pthread_rwlock_t *, const pthread_rwlockattr_t *))   \
    R(int, rwlock_destroy, pthread_rwlock_destroy, (pthread_rwlock_t *))                           \
    R(int, rdlock, pthread_rwlock_rdlock, (pthread_rwlock_t *))                                    \
    R(int, tryrdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                              \
    R(int, timedrdlock, pthread_rwlock_timedrdlock,                                                \
      (pthread_rwlock_t *, const struct timespec *))                                               \
    R(int, clockrdlock, pthread_rwlock_clockrdlock,                                                \
      (pthread_rwlock_t *, clockid_t, const struct timespec *))                                    \
    R(int, wrlock, pthread_rwlock_wrlock, (pthread_rwlock_t *))                                    \
    R(int, trywrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t *))                              \
    R(int, timedwrlock, pthread_rwlock_timedwrlock,                                                \
      (pthread_rwlock_t *, const struct timespec *))                                               \
    R(int, clockwrlock, pthread_rwlock_clockwrlock,                                                \
      (pthread_rwlock_t *, clockid_t, const struct timespec *))                                    \
    R(int, rwlock_unlock, pthread_rwlock_unlock, (pthread_rwlock_t *))                             \
    R(int, barrier_init, pthread_barrier_init,                                                     \
      (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned))                              \
    R(int, barrier_destroy, pthread_barrier_destroy, (pthread_barrier_t *))                        \
    R(int, barrier_wait, pthread_barrier_wait, (pthread_barrier_t *))                              \
    R(int, once, pthread_once, (pthread_once_t *, void (*)(void)))                                 \
    R(int, cond_init, pthread_cond_init, (pthread_cond_t *, const pthread_condattr_t *))           \
    R(int, cond_destroy, pthread_cond_destroy, (pthread_cond_t *))                                 \
    R(int, cond_wait, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                    \
    R(int, cond_timedwait, pthread_cond_timedwait,                                                 \
      (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))                              \
    R(int, cond_clockwait, pthread_cond_clockwait,                                                 \
      (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))                   \
    R(int, cond_signal, pthread_cond_signal, (pthread_cond_t *))                                   \
    R(int, cond_broadcast, pthread_cond_broadcast, (pthread_cond_t *))                             \
    R(void, makecontext, makecontext, (ucontext_t *, void (*)(void), int, ...))                    \
    R(int, swapcontext, swapcontext, (ucontext_t *, const ucontext_t *))                           \
    R(int, setcontext, setcontext, (const ucontext_t *))                                           \
    R(long, syscall, syscall, (long, ...))                                                         \
    R(pid_t, fork, fork, (void))                                                                   \
    R(int, sem_init, sem_init, (sem_t *, int, unsigned))                                           \
    R(int, sem_destroy, sem_destroy, (sem_t *))                                                    \
    R(sem_t *, sem_open, sem_open, (const char *, int, ...))                                       \
    R(int, sem_close, sem_close, (sem_t *))                                                        \
    R(int, sem_wait, sem_wait, (sem_t *))                                                          \
    R(int, sem_trywait, sem_trywait, (sem_t *))                                                    \
    R(int, sem_timedwait, sem_timedwait, (sem_t *, const struct timespec *))                       \
    R(int, sem_clockwait, sem_clockwait, (sem_t *, clockid_t, const struct timespec *))            \
    R(int, sem_post, sem_post, (sem_t *))

struct real {
#define R(result, member, symbol, parameters) result(*member) parameters;
    REAL_CALLS(R)
#undef R
};
extern struct real real;
extern _Atomic bool real_found;
void real_look_up(void);
static inline void real_find(void) /* called before the first use */
{
    if (!LIKELY(atomic_load_explicit(&real_found, memory_order_acquire)))
        real_look_up();
}

/* In a static program the linker (--wrap) lets __wrap_NAME stand before NAME, which __real_NAME is. */
#if defined(POET_STATIC)
#define PLAIN(name) __wrap_##name
#else
#define PLAIN(name) name
#endif

/* Defines the two entries of one call: NAME, by which code comes that was not compiled with
 * -trace, and the redirected one.  Both land in trace_NAME with the call's site, 0 if it is not
 * to be recorded. */
#define SITE ((uintptr_t)__builtin_return_address(0) - 1)
#define ENTRIES(result, give, name, parameters, ...)                                    \
    static result trace_##name(uintptr_t site, POET_UNWRAP parameters);                 \
    __attribute__((visibility("default"))) result PLAIN(name) parameters;               \
    __attribute__((visibility("default"))) result PLAIN(name) parameters                \
    {                                                                                   \
        give trace_##name(site_of_untraced(SITE), __VA_ARGS__);                         \
    }                                                                                   \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name parameters; \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name parameters  \
    {                                                                                   \
        give trace_##name(site_of_traced(SITE), __VA_ARGS__);                                           \
    }                                                                                   \
    static result trace_##name(uintptr_t site, POET_UNWRAP parameters)
#define ENTRY(result, name, parameters, ...) ENTRIES(result, return, name, parameters, __VA_ARGS__)
/* The same without parameters. */
#define ENTRY_NONE(result, name)                                                        \
    static result trace_##name(uintptr_t site);                                         \
    __attribute__((visibility("default"))) result PLAIN(name)(void);                    \
    __attribute__((visibility("default"))) result PLAIN(name)(void)                     \
    {                                                                                   \
        return trace_##name(site_of_untraced(SITE));                                    \
    }                                                                                   \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name(void); \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name(void)  \
    {                                                                                   \
        return trace_##name(site_of_traced(SITE));                                                      \
    }                                                                                   \
    static result trace_##name(uintptr_t site)
#define ENTRY_VOID(name, parameters, ...) ENTRIES(void, , name, parameters, __VA_ARGS__)
#define POET_UNWRAP(...) __VA_ARGS__

#pragma GCC visibility pop
#endif

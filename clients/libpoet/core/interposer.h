/* The interposed functions, and macros that define their entry points. */
#ifndef CLIENTS_LIBPOET_CORE_INTERPOSER_H
#define CLIENTS_LIBPOET_CORE_INTERPOSER_H

#include "base/likely.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/profile/library_stubs.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

typedef void (*handler_function)(int);
union sigval;

/* Result, member, symbol, parameters. */
/* clang-format off */
#define REAL_CALLS(R)                                                                            \
    R(int, create, pthread_create,                                                               \
      (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))                          \
    R(int, thrd_create, thrd_create, (thrd_t *, thrd_start_t, void *))                           \
    R(int, join, pthread_join, (pthread_t, void **))                                             \
    R(int, tryjoin, pthread_tryjoin_np, (pthread_t, void **))                                    \
    R(int, timedjoin, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *))       \
    R(int, clockjoin, pthread_clockjoin_np,                                                      \
      (pthread_t, void **, clockid_t, const struct timespec *))                                  \
    R(int, detach, pthread_detach, (pthread_t))                                                  \
    R(int, cancel, pthread_cancel, (pthread_t))                                                  \
    R(void, exit, pthread_exit, (void *))                                                        \
    R(void, thrd_exit, thrd_exit, (int))                                                         \
    R(int, setname, pthread_setname_np, (pthread_t, const char *))                               \
    R(int, mutex_init, pthread_mutex_init, (pthread_mutex_t *, const pthread_mutexattr_t *))     \
    R(int, mutex_destroy, pthread_mutex_destroy, (pthread_mutex_t *))                            \
    R(int, mutex_lock, pthread_mutex_lock, (pthread_mutex_t *))                                  \
    R(int, mutex_trylock, pthread_mutex_trylock, (pthread_mutex_t *))                            \
    R(int, mutex_timedlock, pthread_mutex_timedlock,                                             \
      (pthread_mutex_t *, const struct timespec *))                                              \
    R(int, mutex_clocklock, pthread_mutex_clocklock,                                             \
      (pthread_mutex_t *, clockid_t, const struct timespec *))                                   \
    R(int, mutex_unlock, pthread_mutex_unlock, (pthread_mutex_t *))                              \
    R(int, mtx_init, mtx_init, (mtx_t *, int))                                                   \
    R(int, spin_init, pthread_spin_init, (pthread_spinlock_t *, int))                            \
    R(int, spin_destroy, pthread_spin_destroy, (pthread_spinlock_t *))                           \
    R(int, spin_lock, pthread_spin_lock, (pthread_spinlock_t *))                                 \
    R(int, spin_trylock, pthread_spin_trylock, (pthread_spinlock_t *))                           \
    R(int, spin_unlock, pthread_spin_unlock, (pthread_spinlock_t *))                             \
    R(int, rwlock_init, pthread_rwlock_init, (pthread_rwlock_t *, const pthread_rwlockattr_t *)) \
    R(int, rwlock_destroy, pthread_rwlock_destroy, (pthread_rwlock_t *))                         \
    R(int, rdlock, pthread_rwlock_rdlock, (pthread_rwlock_t *))                                  \
    R(int, tryrdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                            \
    R(int, timedrdlock, pthread_rwlock_timedrdlock,                                              \
      (pthread_rwlock_t *, const struct timespec *))                                             \
    R(int, clockrdlock, pthread_rwlock_clockrdlock,                                              \
      (pthread_rwlock_t *, clockid_t, const struct timespec *))                                  \
    R(int, wrlock, pthread_rwlock_wrlock, (pthread_rwlock_t *))                                  \
    R(int, trywrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t *))                            \
    R(int, timedwrlock, pthread_rwlock_timedwrlock,                                              \
      (pthread_rwlock_t *, const struct timespec *))                                             \
    R(int, clockwrlock, pthread_rwlock_clockwrlock,                                              \
      (pthread_rwlock_t *, clockid_t, const struct timespec *))                                  \
    R(int, rwlock_unlock, pthread_rwlock_unlock, (pthread_rwlock_t *))                           \
    R(int, barrier_init, pthread_barrier_init,                                                   \
      (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned))                            \
    R(int, barrier_destroy, pthread_barrier_destroy, (pthread_barrier_t *))                      \
    R(int, barrier_wait, pthread_barrier_wait, (pthread_barrier_t *))                            \
    R(int, once, pthread_once, (pthread_once_t *, void (*)(void)))                               \
    R(int, cond_init, pthread_cond_init, (pthread_cond_t *, const pthread_condattr_t *))         \
    R(int, cond_destroy, pthread_cond_destroy, (pthread_cond_t *))                               \
    R(int, cond_wait, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                  \
    R(int, cond_timedwait, pthread_cond_timedwait,                                               \
      (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))                            \
    R(int, cond_clockwait, pthread_cond_clockwait,                                               \
      (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))                 \
    R(int, cond_signal, pthread_cond_signal, (pthread_cond_t *))                                 \
    R(int, cond_broadcast, pthread_cond_broadcast, (pthread_cond_t *))                           \
    R(void, makecontext, makecontext, (ucontext_t *, void (*)(void), int, ...))                  \
    R(int, swapcontext, swapcontext, (ucontext_t *, const ucontext_t *))                         \
    R(int, setcontext, setcontext, (const ucontext_t *))                                         \
    R(long, syscall, syscall, (long, ...))                                                       \
    R(pid_t, fork, fork, (void))                                                                 \
    R(pid_t, _Fork, _Fork, (void))                                                               \
    R(int, execve, execve, (const char *, char *const *, char *const *))                         \
    R(int, execv, execv, (const char *, char *const *))                                          \
    R(int, execvp, execvp, (const char *, char *const *))                                        \
    R(int, execvpe, execvpe, (const char *, char *const *, char *const *))                       \
    R(int, fexecve, fexecve, (int, char *const *, char *const *))                                \
    R(int, spawn, posix_spawn,                                                                   \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,     \
       char *const *, char *const *))                                                            \
    R(int, spawnp, posix_spawnp,                                                                 \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,     \
       char *const *, char *const *))                                                            \
    R(void, _exit, _exit, (int))                                                                 \
    R(void, _Exit, _Exit, (int))                                                                 \
    R(pid_t, waitpid, waitpid, (pid_t, int *, int))                                              \
    R(pid_t, wait4, wait4, (pid_t, int *, int, struct rusage *))                                 \
    R(int, waitid, waitid, (int, id_t, siginfo_t *, int))                                        \
    R(int, pthread_kill, pthread_kill, (pthread_t, int))                                         \
    R(int, tgkill, tgkill, (pid_t, pid_t, int))                                                  \
    R(int, sigqueue, sigqueue, (pid_t, int, const union sigval))                                 \
    R(int, pthread_sigqueue, pthread_sigqueue, (pthread_t, int, const union sigval))             \
    R(int, sigaction, sigaction, (int, const struct sigaction *, struct sigaction *))            \
    R(int, pthread_sigmask, pthread_sigmask, (int, const sigset_t *, sigset_t *))                \
    R(int, sigprocmask, sigprocmask, (int, const sigset_t *, sigset_t *))                        \
    R(int, siginterrupt, siginterrupt, (int, int))                                               \
    R(handler_function, sysv_signal, __sysv_signal, (int, handler_function))                     \
    R(int, sigwait, sigwait, (const sigset_t *, int *))                                          \
    R(int, sigwaitinfo, sigwaitinfo, (const sigset_t *, siginfo_t *))                            \
    R(int, sigtimedwait, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *)) \
    R(int, signalfd, signalfd, (int, const sigset_t *, int))                                     \
    R(int, sem_init, sem_init, (sem_t *, int, unsigned))                                         \
    R(int, sem_destroy, sem_destroy, (sem_t *))                                                  \
    R(sem_t *, sem_open, sem_open, (const char *, int, ...))                                     \
    R(int, sem_close, sem_close, (sem_t *))                                                      \
    R(int, sem_wait, sem_wait, (sem_t *))                                                        \
    R(int, sem_trywait, sem_trywait, (sem_t *))                                                  \
    R(int, sem_timedwait, sem_timedwait, (sem_t *, const struct timespec *))                     \
    R(int, sem_clockwait, sem_clockwait, (sem_t *, clockid_t, const struct timespec *))          \
    R(int, sem_post, sem_post, (sem_t *))
/* clang-format on */

/* Names that a program may use for something of its own: they are neither redirected nor
 * wrapped. */
#define REAL_WORDS(R)                                                                              \
    R(int, kill, kill, (pid_t, int))                                                               \
    R(int, killpg, killpg, (pid_t, int))                                                           \
    R(int, raise, raise, (int))                                                                    \
    R(handler_function, signal, signal, (int, handler_function))                                   \
    R(int, system, system, (const char *))
/* Not in static programs, where they are NULL. */
#define REAL_SHARED(R)                                                                             \
    R(void, register_cancel, __pthread_register_cancel, (void *))                                  \
    R(void, register_cancel_defer, __pthread_register_cancel_defer, (void *))                      \
    R(void, cleanup_push, _pthread_cleanup_push,                                                   \
      (struct _pthread_cleanup_buffer *, void (*)(void *), void *))                                \
    R(void, cleanup_pop, _pthread_cleanup_pop, (struct _pthread_cleanup_buffer *, int))            \
    R(void, longjmp, longjmp, (struct __jmp_buf_tag *, int))                                       \
    R(void, _longjmp, _longjmp, (struct __jmp_buf_tag *, int))                                     \
    R(void, siglongjmp, siglongjmp, (struct __jmp_buf_tag *, int))                                 \
    R(void, longjmp_chk, __longjmp_chk, (struct __jmp_buf_tag *, int))                             \
    R(int, prctl, prctl, (int, ...))                                                               \
    R(int, unmap, munmap, (void *, size_t))                                                        \
    R(handler_function, ssignal, ssignal, (int, handler_function))                                 \
    R(handler_function, bsd_signal, bsd_signal, (int, handler_function))                           \
    R(handler_function, other_sysv_signal, sysv_signal, (int, handler_function))                   \
    R(handler_function, sigset, sigset, (int, handler_function))

struct real_functions {
    _Atomic bool found; /* the others are looked up */
#define R(result, member, symbol, parameters) result(*member) parameters;
    REAL_CALLS(R)
    REAL_WORDS(R)
    REAL_SHARED(R)
#undef R
};
extern struct real_functions real_functions;
void real_functions_look_up(void);
static inline void real_find(void) /* called before the first use */
{
    if (UNLIKELY(!atomic_load_explicit(&real_functions.found, memory_order_acquire)))
        real_functions_look_up();
}

/* In a static program the linker (--wrap) puts __wrap_NAME in front of NAME, which becomes
 * __real_NAME. */
#if defined(POET_STATIC)
#define PLAIN(name) __wrap_##name
#else
#define PLAIN(name) name
#endif

/* Defines the two entry points of one call: NAME, which code reaches that was not compiled with
 * -trace, and the redirected one. Both call trace_NAME with the call's site, 0 if it must not be
 * recorded. */
#define SITE (library_true_return((uintptr_t)__builtin_return_address(0)) - 1)
#define UNTRACED_SITE site_of_untraced
#define ENTRIES(result, give, name, parameters, ...)                                               \
    static result trace_##name(uintptr_t site, POET_UNWRAP parameters);                            \
    __attribute__((visibility("default"))) result PLAIN(name) parameters;                          \
    __attribute__((visibility("default"))) result PLAIN(name) parameters                           \
    {                                                                                              \
        give trace_##name(UNTRACED_SITE(SITE), __VA_ARGS__);                                       \
    }                                                                                              \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name parameters;  \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name parameters   \
    {                                                                                              \
        give trace_##name(site_of_traced(SITE), __VA_ARGS__);                                      \
    }                                                                                              \
    static result trace_##name(uintptr_t site, POET_UNWRAP parameters)
#define ENTRY(result, name, parameters, ...) ENTRIES(result, return, name, parameters, __VA_ARGS__)
/* Defines the entry points of a call without parameters. */
#define ENTRY_NONE(result, name)                                                                   \
    static result trace_##name(uintptr_t site);                                                    \
    __attribute__((visibility("default"))) result PLAIN(name)(void);                               \
    __attribute__((visibility("default"))) result PLAIN(name)(void)                                \
    {                                                                                              \
        return trace_##name(UNTRACED_SITE(SITE));                                                  \
    }                                                                                              \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name(void);       \
    __attribute__((visibility("default"))) result poet_link_with_poetcc_trace__##name(void)        \
    {                                                                                              \
        return trace_##name(site_of_traced(SITE));                                                 \
    }                                                                                              \
    static result trace_##name(uintptr_t site)
#define ENTRY_VOID(name, parameters, ...) ENTRIES(void, , name, parameters, __VA_ARGS__)
/* Defines the entry points of a call that does not return. */
#define ENTRY_LAST(name, parameters, ...)                                                          \
    __attribute__((noreturn)) static void trace_##name(uintptr_t site, POET_UNWRAP parameters);    \
    __attribute__((visibility("default"), noreturn)) void PLAIN(name) parameters;                  \
    __attribute__((visibility("default"))) void PLAIN(name) parameters                             \
    {                                                                                              \
        trace_##name(UNTRACED_SITE(SITE), __VA_ARGS__);                                            \
    }                                                                                              \
    __attribute__((visibility("default"),                                                          \
                   noreturn)) void poet_link_with_poetcc_trace__##name parameters;                 \
    __attribute__((visibility("default"))) void poet_link_with_poetcc_trace__##name parameters     \
    {                                                                                              \
        trace_##name(site_of_traced(SITE), __VA_ARGS__);                                           \
    }                                                                                              \
    static void trace_##name(uintptr_t site, POET_UNWRAP parameters)
#define POET_UNWRAP(...) __VA_ARGS__

#pragma GCC visibility pop
#endif

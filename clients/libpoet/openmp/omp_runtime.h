/* The interposed calls of the OpenMP runtime.
 *
 * Programs with OpenMP are traced by libpoet-omp, through poet.h. poet record loads it, poetcc
 * -trace -fopenmp links it. For programs compiled with gcc it interposes the calls of libgomp;
 * LLVM's runtime reports events by OpenMP's tools interface (OMPT). docs/omp.md says what makes
 * which events. If nothing is recorded every call is passed on, and nothing is added. No lock is
 * held over a call of the program's; memory comes from malloc, and if there is none, an event is
 * marked as uncertain.
 *
 * A process may have several runtimes, and one that was opened by dlopen() is not in the global
 * scope: the caller decides which one a call is for. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMP_RUNTIME_H
#define CLIENTS_LIBPOET_OPENMP_OMP_RUNTIME_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define API __attribute__((visibility("default")))
#define SITE ((const char *)__builtin_extract_return_addr(__builtin_return_address(0)) - 1)

/* clang-format off */
/* of C, and of Fortran */
#define LOCK_CALLS(C, _)                                                                        \
    C(omp_init_lock##_) C(omp_init_lock_with_hint##_) C(omp_destroy_lock##_) C(omp_set_lock##_) \
    C(omp_unset_lock##_) C(omp_test_lock##_) C(omp_init_nest_lock##_)                           \
    C(omp_init_nest_lock_with_hint##_) C(omp_destroy_nest_lock##_) C(omp_set_nest_lock##_)      \
    C(omp_unset_nest_lock##_) C(omp_test_nest_lock##_)
/* of loops over long, and over unsigned long long */
#define LOOP_CALLS(C, _)                                                                     \
    C(GOMP_loop##_##dynamic_start) C(GOMP_loop##_##guided_start)                             \
    C(GOMP_loop##_##nonmonotonic_dynamic_start) C(GOMP_loop##_##nonmonotonic_guided_start)   \
    C(GOMP_loop##_##ordered_dynamic_start) C(GOMP_loop##_##ordered_guided_start)             \
    C(GOMP_loop##_##runtime_start) C(GOMP_loop##_##nonmonotonic_runtime_start)               \
    C(GOMP_loop##_##maybe_nonmonotonic_runtime_start) C(GOMP_loop##_##ordered_runtime_start) \
    C(GOMP_loop##_##start) C(GOMP_loop##_##ordered_start) C(GOMP_loop##_##dynamic_next)      \
    C(GOMP_loop##_##ordered_dynamic_next) C(GOMP_loop##_##ordered_guided_next)               \
    C(GOMP_loop##_##ordered_runtime_next)                                                    \
    C(GOMP_loop##_##guided_next) C(GOMP_loop##_##nonmonotonic_dynamic_next)                  \
    C(GOMP_loop##_##nonmonotonic_guided_next) C(GOMP_loop##_##runtime_next)                  \
    C(GOMP_loop##_##nonmonotonic_runtime_next) C(GOMP_loop##_##maybe_nonmonotonic_runtime_next)
#define REAL_CALLS(C)                                                                             \
    C(GOMP_parallel) C(GOMP_parallel_reductions) C(GOMP_parallel_sections)                        \
    C(GOMP_parallel_loop_static) C(GOMP_parallel_loop_dynamic) C(GOMP_parallel_loop_guided)       \
    C(GOMP_parallel_loop_runtime) C(GOMP_parallel_loop_nonmonotonic_dynamic)                      \
    C(GOMP_parallel_loop_nonmonotonic_guided) C(GOMP_parallel_loop_nonmonotonic_runtime)          \
    C(GOMP_parallel_loop_maybe_nonmonotonic_runtime) C(GOMP_parallel_start)                       \
    C(GOMP_barrier) C(GOMP_barrier_cancel) C(GOMP_loop_end) C(GOMP_loop_end_cancel)               \
    C(GOMP_loop_end_nowait) C(GOMP_sections_end) C(GOMP_sections_end_cancel)                      \
    C(GOMP_single_copy_start) C(GOMP_single_copy_end) C(GOMP_workshare_task_reduction_unregister) \
    C(GOMP_cancel) C(GOMP_cancellation_point) C(GOMP_ordered_start) C(GOMP_ordered_end)           \
    C(GOMP_loop_doacross_start) C(GOMP_loop_doacross_static_start)                                \
    C(GOMP_loop_doacross_dynamic_start) C(GOMP_loop_doacross_guided_start)                        \
    C(GOMP_loop_doacross_runtime_start) C(GOMP_doacross_wait)                                     \
    C(GOMP_critical_start) C(GOMP_critical_end) C(GOMP_critical_name_start)                       \
    C(GOMP_critical_name_end) C(GOMP_atomic_start) C(GOMP_atomic_end)                             \
    C(GOMP_task) C(GOMP_taskwait) C(GOMP_taskwait_depend) C(GOMP_taskgroup_start)                 \
    C(GOMP_taskgroup_end) C(GOMP_taskloop) C(GOMP_taskloop_ull)                                   \
    C(GOMP_taskgroup_reduction_register) C(GOMP_scope_start)                                      \
    C(omp_get_num_threads) C(omp_get_thread_num) C(omp_get_level) C(omp_get_cancellation)         \
    C(omp_in_final)                                                                               \
    LOOP_CALLS(C, _) LOOP_CALLS(C, _ull_)                                                         \
    C(GOMP_sections_start) C(GOMP_sections2_start) C(GOMP_sections_next) C(GOMP_single_start)     \
    C(__kmpc_dispatch_next_4) C(__kmpc_dispatch_next_4u) C(__kmpc_dispatch_next_8)                \
    C(__kmpc_dispatch_next_8u) C(__kmpc_single)                                                   \
    C(__kmpc_dispatch_init_4) C(__kmpc_dispatch_init_4u) C(__kmpc_dispatch_init_8)                \
    C(__kmpc_dispatch_init_8u) C(omp_get_schedule)                                                \
    LOCK_CALLS(C, ) LOCK_CALLS(C, _)                                                              \
    C(__kmpc_fork_call) C(__kmpc_barrier) C(__kmpc_global_thread_num) C(__kmpc_critical)          \
    C(__kmpc_critical_with_hint) C(__kmpc_end_critical) C(__kmpc_ordered) C(__kmpc_end_ordered)   \
    C(__kmpc_doacross_wait) C(__kmpc_omp_task_alloc) C(__kmpc_omp_task)                           \
    C(__kmpc_omp_task_with_deps)                                                                  \
    C(__kmpc_omp_wait_deps) C(__kmpc_omp_taskyield) C(__kmpc_taskloop) C(__kmpc_taskgroup)        \
    C(__kmpc_end_taskgroup)
/* clang-format on */

enum real_call {
#define C(name) REAL_##name,
    REAL_CALLS(C)
#undef C
        REAL_COUNT
};

/* Returns the function that the caller at `site` would reach without libpoet-omp; NULL: there is no
 * runtime. */
void *omp_runtime_function(enum real_call call, const void *site);
/* Returns whether the caller at `site` uses LLVM's runtime, which reports its actions by OMPT. */
bool omp_runtime_is_llvm(const void *site);

/* real(GOMP_barrier, site, void, (void))(): its pointer. */
#define REAL(name, site, result, parameters)                                                       \
    ((result(*) parameters)(uintptr_t)omp_runtime_function(REAL_##name, site))

/* Returns whether tasks that the calling task creates run immediately. */
static inline bool omp_runtime_in_final_task(const void *site)
{
    int (*final)(void) = REAL(omp_in_final, site, int, (void));
    return final && final();
}

#pragma GCC visibility pop
#endif

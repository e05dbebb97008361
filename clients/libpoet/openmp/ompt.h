/* The part of OpenMP's tools interface (OMPT; OpenMP 5.0, chapter 4) that is needed here, with the
 * names and numbers of omp-tools.h, which is missing on some machines that have a runtime. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMPT_H
#define CLIENTS_LIBPOET_OPENMP_OMPT_H

#include <stdint.h>

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;
typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);
typedef int (*ompt_set_callback_t)(int which, ompt_interface_fn_t callback);
typedef struct {
    int (*initialize)(ompt_function_lookup_t lookup, int device, ompt_data_t *tool);
    void (*finalize)(ompt_data_t *tool);
    ompt_data_t tool_data;
} ompt_start_tool_result_t;
typedef struct {
    ompt_data_t variable;
    int dependence_type;
} ompt_dependence_t;

enum { ompt_scope_begin = 1, ompt_scope_end = 2 };

enum { /* callbacks */
       ompt_callback_parallel_begin = 3,
       ompt_callback_parallel_end = 4,
       ompt_callback_task_create = 5,
       ompt_callback_task_schedule = 6,
       ompt_callback_implicit_task = 7,
       ompt_callback_sync_region_wait = 16,
       ompt_callback_dependences = 18,
       ompt_callback_work = 20,
       ompt_callback_sync_region = 23,
       ompt_callback_cancel = 30
};

enum { /* kinds of sync regions; all others are barriers */
       ompt_sync_region_taskwait = 5,
       ompt_sync_region_taskgroup = 6,
       ompt_sync_region_reduction = 7,
       ompt_sync_region_barrier_implicit_parallel = 9,
       ompt_sync_region_barrier_teams = 10
};

enum { ompt_work_loop = 1 };
enum { ompt_task_initial = 1, ompt_task_taskwait = 0x10 };
enum { ompt_dependence_type_in = 1, ompt_dependence_type_mutexinoutset = 4 };
enum { ompt_cancel_activated = 0x10, ompt_cancel_detected = 0x20 };

enum { /* reasons for a task switch */
       ompt_task_complete = 1,
       ompt_task_yield = 2,
       ompt_task_cancel = 3,
       ompt_task_detach = 4,
       ompt_task_early_fulfill = 5,
       ompt_task_late_fulfill = 6,
       ompt_task_switch = 7,
       ompt_taskwait_complete = 8
};

#endif

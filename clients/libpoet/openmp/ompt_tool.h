/* OMPT tool: events that LLVM's runtime reports, complemented by the interposed calls. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMPT_TOOL_H
#define CLIENTS_LIBPOET_OPENMP_OMPT_TOOL_H

#include "clients/libpoet/openmp/omp_tasks.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool ompt_tool_is_active(void); /* Returns whether the runtime has initialized the tool. */
struct ompt_task_data; /* data that the runtime keeps for the tool with a task */
/* Sets the site at which the calling thread is about to create a task, unless one is set; NULL: the
 * task was created. */
void ompt_tool_begin_task(const void *site);
/* Sets the site of all tasks that a loop creates. Returns the previous site, which must be set
 * again afterwards. */
const void *ompt_tool_begin_loop(const void *site);
/* Registers a task that the calling thread creates and that the runtime does not know yet; NULL:
 * there is no memory. ompt_tool_hand_over(): the next task that the runtime gets from the calling
 * thread, whichever thread created it, is that one; the data go with it. */
struct ompt_task_data *ompt_tool_create_task(const void *site);
struct omp_task *ompt_tool_task(struct ompt_task_data *kept);
void ompt_tool_hand_over(struct ompt_task_data *kept);
void ompt_tool_hide_task(void); /* The next task is not one of the program's. */
/* Adds a dependence on a storage location, in one of OMPT's types. */
void ompt_tool_depends(struct omp_task *task, const void *place, int how);

/* Sets the site of the next region that the calling thread begins, and the function that its
 * members run. NULL: it is over. */
void ompt_tool_begin_region(const void *site, const void *body);

#pragma GCC visibility pop
#endif

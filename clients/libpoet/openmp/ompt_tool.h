/* What LLVM's runtime tells by OMPT, and what the calls that we stand before add to that. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMPT_TOOL_H
#define CLIENTS_LIBPOET_OPENMP_OMPT_TOOL_H

#include "clients/libpoet/openmp/omp_tasks.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool ompt_tool_is_active(void); /* the runtime has begun to tell us */
struct ompt_task_data; /* what the runtime keeps for us with a task */
/* Where the calling thread is about to have the runtime make a task, unless that was said already;
 * NULL: it was made. */
void ompt_tool_begin_task(const void *site);
/* The same, of all tasks that a loop makes: gives what was said before, which is to be said again
 * afterwards. */
const void *ompt_tool_begin_loop(const void *site);
/* A task that the calling thread makes, and the runtime does not know of yet; NULL: there is no
 * memory.  ompt_tool_hand_over: the next one that the runtime is given by the calling thread,
 * whoever made it, is that; it goes with that. */
struct ompt_task_data *ompt_tool_create_task(const void *site);
struct omp_task *ompt_tool_task(struct ompt_task_data *kept);
void ompt_tool_hand_over(struct ompt_task_data *kept);
void ompt_tool_hide_task(void); /* that one is no task of the program's */
/* It depends on a place, in one of OMPT's ways. */
void ompt_tool_depends(struct omp_task *task, const void *place, int how);

/* The next region that the calling thread begins: where, and what each of its members runs.  NULL:
 * over. */
void ompt_tool_begin_region(const void *site, const void *body);

#pragma GCC visibility pop
#endif

/* What LLVM's runtime tells by OMPT, and what the calls that we stand before add to that. */
#ifndef CLIENTS_TRACE_OMP_TOOL_H
#define CLIENTS_TRACE_OMP_TOOL_H

#include "clients/trace/omp/tasks.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool tool_is_told(void); /* the runtime has begun to tell us */
struct kept; /* what the runtime keeps for us with a task */
/* Where the calling thread is about to have the runtime make a task, unless that was said already; NULL: it was made. */
void tool_spawns(const void *site);
/* The same, of all tasks that a loop makes: gives what was said before, which is to be said again afterwards. */
const void *tool_loops(const void *site);
/* A task that the calling thread makes, and the runtime does not know of yet; NULL: there is no memory.  tool_hands: the next one that
 * the runtime is given by the calling thread, whoever made it, is that; it goes with that. */
struct kept *tool_makes(const void *site);
struct task *tool_task(struct kept *kept);
void tool_hands(struct kept *kept);
void tool_hides(void); /* that one is no task of the program's */
/* It depends on a place, in one of OMPT's ways. */
void tool_depends(struct task *task, const void *place, int how);

/* The next region that the calling thread begins: where, and what each of its members runs.  NULL: over. */
void tool_forks(const void *site, const void *body);

#pragma GCC visibility pop
#endif

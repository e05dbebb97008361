/* Which of its siblings a task depends on: by the places that they read and write (OpenMP's
 * depend). */
#ifndef CLIENTS_LIBPOET_OPENMP_TASK_DEPENDS_H
#define CLIENTS_LIBPOET_OPENMP_TASK_DEPENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct task_dependences;
/* What a task does with a place.  Members of a set come in any order. */
enum dependence { DEPEND_READS, DEPEND_WRITES, DEPEND_IN_SET };

struct task_dependences *task_depends_new(void); /* NULL: there is no memory */
void task_depends_free(struct task_dependences *depends); /* NULL too */
/* All that were told so far have ended, and been waited for. */
void task_depends_forget(struct task_dependences *depends); /* NULL too */

/* A task is known by the key of its end.  Adds the keys of those that it comes after, to a list
 * from malloc that keeps room for one more.  task 0: it only looks.  false: it may come after
 * more. */
bool task_depends_add(struct task_dependences *depends, const void *place, enum dependence how,
                      uint64_t task, uint64_t **before, uint32_t *count);

#pragma GCC visibility pop
#endif

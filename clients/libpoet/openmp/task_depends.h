/* Dependences among sibling tasks, by the storage locations that they read and write (OpenMP's
 * depend). */
#ifndef CLIENTS_LIBPOET_OPENMP_TASK_DEPENDS_H
#define CLIENTS_LIBPOET_OPENMP_TASK_DEPENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct task_dependences;
/* Access of a task to a storage location. Members of a set run in any order. */
enum dependence { DEPEND_READS, DEPEND_WRITES, DEPEND_IN_SET };

struct task_dependences *task_depends_new(void); /* Returns NULL if there is no memory. */
void task_depends_free(struct task_dependences *depends); /* May be NULL. */
/* All tasks that were added so far have ended, and were waited for. */
void task_depends_forget(struct task_dependences *depends); /* May be NULL. */

/* Adds a task, identified by the key of its end (0: only a query), and appends the keys of the
 * tasks that it depends on to a list from malloc, which keeps room for one more. Returns false if
 * it may depend on more. */
bool task_depends_add(struct task_dependences *depends, const void *place, enum dependence how,
                      uint64_t task, uint64_t **before, uint32_t *count);

#pragma GCC visibility pop
#endif

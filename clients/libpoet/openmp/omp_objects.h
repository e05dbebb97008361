/* Lines of what threads meet at: regions, critical sections and locks, each found by its address.
 * A line is opened when it is first asked for, and again under another server and after a fork.
 * Thread-safe. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMP_OBJECTS_H
#define CLIENTS_LIBPOET_OPENMP_OMP_OBJECTS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum omp_object_kind { OMP_OBJECT_REGION, OMP_OBJECT_CRITICAL, OMP_OBJECT_LOCK };
/* That of the object at an address; a new one if there is none yet.  0: it is not recorded, or
 * there is no memory. */
poet_line_t omp_object_line(enum omp_object_kind kind, const void *object, const char *name,
                            const void *site);
/* The object is gone, or another one: its line is not found any more. */
void omp_object_forget(enum omp_object_kind kind, const void *object);
/* One more comes to it; whether somebody else has come who has not gone. */
bool omp_object_arrive(enum omp_object_kind kind, const void *object);
void omp_object_depart(enum omp_object_kind kind, const void *object);
/* The thread goes into a line that is not 0, after it has got what that stands for; and out of it,
 * before it gives it back. */
void omp_object_enter(poet_line_t line, const void *site);
void omp_object_leave(enum omp_object_kind kind, const void *object, const void *site);
/* How often its holder has entered it, for locks that nest; its holder alone may touch it.  NULL:
 * none yet. */
unsigned *omp_object_depth(enum omp_object_kind kind, const void *object);

#pragma GCC visibility pop
#endif

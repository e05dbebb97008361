/* Lines of synchronization objects of OpenMP: regions, critical sections and locks, each found by
 * its address. A line is opened at its first use, and again under another server and after a fork.
 * Thread-safe. */
#ifndef CLIENTS_LIBPOET_OPENMP_OMP_OBJECTS_H
#define CLIENTS_LIBPOET_OPENMP_OMP_OBJECTS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum omp_object_kind { OMP_OBJECT_REGION, OMP_OBJECT_CRITICAL, OMP_OBJECT_LOCK };
/* Returns the line of the object at an address; opened if needed. 0: it is not recorded, or there
 * is no memory. */
poet_line_t omp_object_line(enum omp_object_kind kind, const void *object, const char *name,
                            const void *site);

#pragma GCC visibility pop
#endif

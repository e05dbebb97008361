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
/* The object is destroyed or replaced: its line is not found any more. */
void omp_object_forget(enum omp_object_kind kind, const void *object);
/* A thread arrives at the object. Returns whether another thread has arrived and not left. */
bool omp_object_arrive(enum omp_object_kind kind, const void *object);
void omp_object_depart(enum omp_object_kind kind, const void *object);
/* The thread enters the line (not 0) after it has acquired the object; and leaves it before it
 * releases that. */
void omp_object_enter(poet_line_t line, const void *site);
void omp_object_leave(enum omp_object_kind kind, const void *object, const void *site);
/* Returns how often the holder has acquired it, for nestable locks; only the holder may access it.
 * NULL: none yet. */
unsigned *omp_object_depth(enum omp_object_kind kind, const void *object);

#pragma GCC visibility pop
#endif

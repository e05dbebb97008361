/* The texts of /proc (proc(5)) that say in which call of the system a thread sleeps. */
#ifndef SERVER_OSMETRICS_ASLEEP_H
#define SERVER_OSMETRICS_ASLEEP_H

#include "wire/asleep.h"

#include <stdbool.h>
#include <stddef.h>

/* /proc/PID/task/TID/syscall; *word: the address that a futex is waited at, else 0. */
enum sleep_call asleep_syscall(const char *text, size_t size, uint64_t *word);
/* Classifies a sleep by /proc/PID/task/TID/wchan, the kernel's function.  It is less specific,
 * but needs no permission to trace the thread. */
enum sleep_call asleep_wchan(const char *text, size_t size);
/* A line of /proc/PID/maps: that address lies in the dynamic loader's own memory. */
bool asleep_of_loader(const char *line, uint64_t word);

#endif

/* Calls that the C++ runtime makes on behalf of a program: what a std::thread runs, and call sites
 * within the runtime. */
#ifndef CLIENTS_LIBPOET_CORE_CXX_RUNTIME_H
#define CLIENTS_LIBPOET_CORE_CXX_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns the function that a new thread will run, given the function and argument that it is
 * created with. */
uintptr_t cxx_callable(uintptr_t function, const void *argument);
/* Returns whether the call that returns to this address went to the C++ runtime, possibly by a tail
 * call. */
bool cxx_calls_runtime(uintptr_t returns);
/* Returns whether the site is in a function of the C++ library that was compiled into the
 * program. */
bool cxx_in_library(uintptr_t site);

#pragma GCC visibility pop
#endif

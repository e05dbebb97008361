/* What C++ puts between a program and its calls. */
#ifndef CLIENTS_LIBPOET_CORE_CXX_RUNTIME_H
#define CLIENTS_LIBPOET_CORE_CXX_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What a new thread runs, seen from the function and argument that it is created with. */
uintptr_t cxx_callable(uintptr_t function, const void *argument);
/* Whether the call that returns there went to the C++ runtime, which jumped on (a tail call). */
bool cxx_calls_runtime(uintptr_t returns);
bool cxx_in_library(
    uintptr_t site); /* in a function of the C++ library that lives in the program */

#pragma GCC visibility pop
#endif

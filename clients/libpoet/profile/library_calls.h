/* Calls of functions of libraries by measured code (WANTED_LIBRARIES): their begin and end. */
#ifndef CLIENTS_LIBPOET_PROFILE_LIBRARY_CALLS_H
#define CLIENTS_LIBPOET_PROFILE_LIBRARY_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A function that a measured object imports. */
struct library_import {
    uintptr_t target; /* what its calls reach */
    uint64_t function; /* the address by which it is measured and named */
    uintptr_t code, code_bytes; /* of that object: others call it unmeasured */
};

/* Adds an import, and returns its stub; 0: there are too many. wide: its arguments or its result
 * may be in vector registers of more than 16 bytes. */
uintptr_t library_call_add(const struct library_import *import, bool wide);
/* Must be called before any stub. wide_mask, probes: as in
 * library_stubs.h. */
void library_calls_begin(uint32_t wide_mask, bool probes);

#pragma GCC visibility pop
#endif

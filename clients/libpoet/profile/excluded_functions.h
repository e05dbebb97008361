/* Calls that get no frame: those of functions that the user named, with all that they call or
 * without, and those that are counted only. */
#ifndef CLIENTS_LIBPOET_PROFILE_EXCLUDED_FUNCTIONS_H
#define CLIENTS_LIBPOET_PROFILE_EXCLUDED_FUNCTIONS_H

#include "clients/libpoet/profile/call_stack.h"

#include <signal.h>

#pragma GCC visibility push(hidden)

/* A call begins: is it one of them?  It is counted, if so, or ignored until it ends. */
bool excluded_function_check(struct thread_profile *m, uint64_t function, uint64_t site,
                             uint64_t stack);
enum function_measurement excluded_function_measurement(const struct thread_profile *m,
                                                        uint64_t function);
/* Where one is ignored (m->ignored): is it still open, so that what happens is within it? */
bool excluded_function_is_within(struct thread_profile *m, uint64_t stack);
/* Is that on another stack than the ignored call?  There an address says nothing. */
bool excluded_function_is_other_stack(const struct thread_profile *m, uint64_t stack);

stack_t excluded_function_signal_stack(
    void); /* that of signal handlers; none where it may not be asked for */
static inline bool excluded_function_is_on_stack(const stack_t *other, uint64_t stack)
{
    return !(other->ss_flags & SS_DISABLE) &&
           stack - (uint64_t)(uintptr_t)other->ss_sp < other->ss_size;
}

#pragma GCC visibility pop
#endif

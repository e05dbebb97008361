/* Calls without a frame: of functions that the user excluded, with or without their callees, and of
 * functions that are only counted. */
#ifndef CLIENTS_LIBPOET_PROFILE_EXCLUDED_FUNCTIONS_H
#define CLIENTS_LIBPOET_PROFILE_EXCLUDED_FUNCTIONS_H

#include "clients/libpoet/profile/function_filter.h"
#include "clients/libpoet/profile/call_stack.h"

#include <signal.h>

#pragma GCC visibility push(hidden)

/* Returns whether a call that begins is one of them; then it has been counted, or is ignored until
 * it ends. */
bool excluded_function_check(struct thread_profile *m, uint64_t function, uint64_t site,
                             uint64_t stack);
enum function_measurement excluded_function_measurement(const struct thread_profile *m,
                                                        uint64_t function);
/* Counts a call, of which neither the time nor the end is recorded. */
void excluded_function_count(struct thread_profile *m, uint64_t function, uint64_t site);
/* Returns, while a call is ignored (m->ignored), whether it is still open, so that what happens is
 * within it. */
bool excluded_function_is_within(struct thread_profile *m, uint64_t stack);
/* Returns whether the address is on another stack than the ignored call, where addresses cannot be
 * compared. */
bool excluded_function_is_other_stack(const struct thread_profile *m, uint64_t stack);

/* Returns the alternate signal stack; none if querying it is not allowed. */
stack_t excluded_function_signal_stack(void);
static inline bool excluded_function_is_on_stack(const stack_t *other, uint64_t stack)
{
    return !(other->ss_flags & SS_DISABLE) &&
           stack - (uint64_t)(uintptr_t)other->ss_sp < other->ss_size;
}

#pragma GCC visibility pop
#endif

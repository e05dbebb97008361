/* Loaded modules, and whether their calls are recorded without -trace. */
#ifndef CLIENTS_LIBPOET_CORE_MODULES_H
#define CLIENTS_LIBPOET_CORE_MODULES_H

#include "base/likely.h"
#include "clients/libpoet/core/tracer.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
/* Returns the site of a call by untraced code if it is recorded (the call itself, or the call in
 * the program that made the C++ runtime call), else 0. */
uintptr_t modules_site(uintptr_t site);
static inline uintptr_t site_of_untraced(uintptr_t site)
{
    return LIKELY(!tracer.modules.trace_untraced) ? 0 : modules_site(site);
}
/* modules_lock_site() does the same for a call that locks, waits or wakes. It also returns 0 if
 * Python's interpreter makes the call: its own locks do not synchronize the program that it
 * runs. */
uintptr_t modules_lock_site(uintptr_t site);
static inline uintptr_t site_of_lock(uintptr_t site)
{
    return LIKELY(!tracer.modules.trace_untraced) ? 0
           : tracer.modules.has_interpreter       ? modules_lock_site(site)
                                                  : modules_site(site);
}
void modules_begin(void); /* Must be called before any other. */
bool modules_under_record(void);
void modules_rescan(void); /* Looks for modules that were loaded meanwhile. */
void modules_announce(struct encoder *out); /* Writes a MODULE message for each. */
/* Called when a record comes from a module that is not the thread's last one; announces new
 * modules. */
void modules_check_caller(struct traced_thread *thread, uintptr_t site);
/* Announces libraries that were opened meanwhile. Does nothing if the thread is busy, or NULL. */
void modules_announce_opened(struct traced_thread *thread);
/* Announces them if the calling thread calls a function at an address that belongs to no known
 * module. */
void modules_check_function(uintptr_t function);
bool modules_has_code(uintptr_t address);
bool modules_is_runtime(uintptr_t address);
/* Returns whether the address is in data of a module that was loaded with the program itself. */
bool modules_program_data(uintptr_t address);
/* Returns the file that an address was loaded from, and sets its load bias; NULL: not known. */
const char *modules_path(uintptr_t address, uintptr_t *bias);
/* Returns the site of a call by traced code: the call itself, or, within an inline function of the
 * C++ library, the caller of that. */
uintptr_t modules_user_site(uintptr_t site);
/* An address in the outermost function of the C++ library around the calling thread's last call
 * from within one for which these returned a site. */
extern __thread uintptr_t modules_library_function __attribute__((tls_model("initial-exec")));
static inline uintptr_t site_of_traced(uintptr_t site)
{
    return LIKELY(!tracer.modules.has_cxx) ? site : modules_user_site(site);
}

/* Returns the site of a call with a name that programs also use for functions of their own, so that
 * it is not redirected: calls of the program itself are recorded as if it were compiled with
 * -trace. */
uintptr_t modules_program_site(uintptr_t site);
static inline uintptr_t site_of_program(uintptr_t site)
{
    return tracer.modules.trace_untraced ? modules_site(site) : modules_program_site(site);
}

#pragma GCC visibility pop
#endif

/* What is mapped, and whose calls are recorded without -trace. */
#ifndef CLIENTS_LIBPOET_CORE_MODULES_H
#define CLIENTS_LIBPOET_CORE_MODULES_H

#include "clients/libpoet/core/likely.h"
#include "wire/message.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
extern bool modules_trace_untraced; /* some calls of untraced code are */
/* The site of a call by untraced code as far as it is recorded, else 0: the call itself, or what
 * in the program made the C++ runtime call. */
uintptr_t modules_site(uintptr_t site);
static inline uintptr_t site_of_untraced(uintptr_t site)
{
    return LIKELY(!modules_trace_untraced) ? 0 : modules_site(site);
}
/* The same of a call that locks, waits or wakes: also 0 if Python's interpreter makes it, whose own
 * locks say nothing of the program that it runs. */
extern bool modules_interpreter;
uintptr_t modules_lock_site(uintptr_t site);
static inline uintptr_t site_of_lock(uintptr_t site)
{
    return LIKELY(!modules_trace_untraced) ? 0
           : modules_interpreter           ? modules_lock_site(site)
                                           : modules_site(site);
}
void modules_begin(void); /* before any other */
bool modules_under_record(void);
void modules_rescan(void); /* for what was loaded meanwhile */
void modules_announce(struct encoder *out); /* a MODULE for each */
/* A record comes from a module that is not the thread's last one; announces what is new. */
void modules_check_caller(struct traced_thread *thread, uintptr_t site);
/* Announces libraries that were opened meanwhile; nothing in a thread that is busy, or NULL. */
void modules_announce_opened(struct traced_thread *thread);
/* The same, if the calling thread calls a function where nothing was known to lie. */
void modules_check_function(uintptr_t function);
/* Libraries were closed: reserves the addresses of those that are gone, as far as there is room
 * for it, so that no other code comes to lie there and bears their names. */
void modules_reserve_closed(struct traced_thread *thread);
bool modules_has_code(uintptr_t address);
bool modules_is_runtime(uintptr_t address);
bool modules_program_data(uintptr_t address); /* in what was loaded with the program itself */
/* The file that an address was loaded from, and where to; NULL unknown. */
const char *modules_path(uintptr_t address, uintptr_t *bias);
/* The site of a call by traced code: the call itself, or what called the C++ library's inline
 * function that it lies in. */
uintptr_t modules_user_site(uintptr_t site);
extern bool modules_cxx; /* a C++ runtime is loaded */
static inline uintptr_t site_of_traced(uintptr_t site)
{
    return LIKELY(!modules_cxx) ? site : modules_user_site(site);
}

/* The same for calls whose names are words, which programs use for their own things, so that they
 * are not redirected: those of the program itself are recorded, as if it were compiled with
 * -trace. */
uintptr_t modules_program_site(uintptr_t site);
static inline uintptr_t site_of_program(uintptr_t site)
{
    return modules_trace_untraced ? modules_site(site) : modules_program_site(site);
}

#pragma GCC visibility pop
#endif

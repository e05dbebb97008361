/* The real functions behind the interposed calls, looked up once. */
#define _GNU_SOURCE
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/libc_calls.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/next_symbol.h"
#include "wire/event_types.h"

#include <stdatomic.h>
#include <string.h>

struct real_functions real_functions;

#if defined(POET_STATIC)
#define R(result, member, symbol, parameters) result __real_##symbol parameters;
REAL_CALLS(R)
#undef R

void real_functions_look_up(void)
{
#define R(result, member, symbol, parameters) real_functions.member = __real_##symbol;
    REAL_CALLS(R)
#undef R
#define R(result, member, symbol, parameters) real_functions.member = symbol;
    REAL_WORDS(R)
#undef R
    atomic_store_explicit(&real_functions.found, true, memory_order_release);
}
#else
/* Never returns NULL: a program may look for a function that this C library does not have, and
 * finds libpoet's. */
static void *real_functions_find(const char *name)
{
    void *p = next_call(name);
    return p ? p : (void *)(uintptr_t)next_none;
}

/* A foreign allocator may lock a mutex, and a sanitizer that initializes may set a handler, while a
 * symbol is looked up: until then a call goes to the C library's function, and is never missing. */
void real_functions_look_up(void)
{
    static __thread bool looking __attribute__((tls_model("initial-exec")));
    if (looking)
        return;
    looking = true;
    libc_calls_find();
#define R(result, member, symbol, parameters)                                                      \
    if (!real_functions.member)                                                                    \
        *(void **)&real_functions.member = libc_bind_found(#symbol);
    REAL_CALLS(R)
    REAL_WORDS(R)
    REAL_SHARED(R)
#undef R
#define R(result, member, symbol, parameters)                                                      \
    *(void **)&real_functions.member = real_functions_find(#symbol);
    REAL_CALLS(R)
    REAL_WORDS(R)
#undef R
#define R(result, member, symbol, parameters) *(void **)&real_functions.member = next_call(#symbol);
    REAL_SHARED(R)
#undef R
    looking = false;
    atomic_store_explicit(&real_functions.found, true, memory_order_release);
}
#endif

/* Exceptions out of calls. In code of gcc, a function that an exception leaves calls the hook at
 * its end; in code of clang it does not: where the exception is caught, all calls below the
 * function with the handler have ended. A handler begins by __cxa_begin_catch (Itanium C++ ABI,
 * Exception Handling, 2.5.3), which is interposed here and calls the definition that the handler
 * would have called without libpoet: the first in the global scope or, if there is none, as in a C
 * program that opens a C++ library, the one in the scope of the caller's library. A program that is
 * linked statically, or contains its C++ library, calls its own. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/call_stack.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/next_symbol.h"

#include <dlfcn.h>
#include <stdlib.h>

#if !defined(POET_STATIC)
#define NAME "__cxa_begin_catch"

typedef void *begin_catch(void *exception);
__attribute__((visibility("default"))) begin_catch __cxa_begin_catch;

/* Of a library that was loaded when the program began, and stays. */
static begin_catch *from_the_start;

static begin_catch *exceptions_is_other_hook(void *symbol)
{
    begin_catch *p;
    *(void **)&p = symbol;
    return p == __cxa_begin_catch ? NULL : p;
}

void exceptions_begin(void) { from_the_start = exceptions_is_other_hook(next_in(RTLD_NEXT, NAME)); }

/* In the scope of a library; if that includes libpoet, too, the one with libstdc++'s version. */
static begin_catch *exceptions_is_seen_by(const char *library)
{
    void *opened = library ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!opened)
        return NULL;
    begin_catch *p = exceptions_is_other_hook(next_in(opened, NAME));
    if (!p)
        p = exceptions_is_other_hook(dlvsym(opened, NAME, "CXXABI_1.3"));
    dlclose(opened); /* it stays: it was open before */
    return p;
}

static __attribute__((noinline, cold)) begin_catch *exceptions_find_for(const void *caller)
{
    Dl_info is = {0};
    begin_catch *p = exceptions_is_other_hook(next_in(RTLD_NEXT, NAME));
    if (!p && dladdr(caller, &is))
        p = exceptions_is_seen_by(is.dli_fname);
    if (!p)
        p = exceptions_is_seen_by("libstdc++.so.6");
    if (!p)
        p = exceptions_is_seen_by("libc++abi.so.1");
    /* a handler without a C++ library */
    if (!p)
        abort();
    return p;
}

void *__cxa_begin_catch(void *exception)
{
    const struct traced_thread *t = thread_mine;
    if (t && t->profile)
        call_stack_cut(t->profile, instrument_wanted(t),
                       (uint64_t)(uintptr_t)__builtin_frame_address(0));
    begin_catch *next = from_the_start;
    return (next ? next : exceptions_find_for(__builtin_return_address(0)))(exception);
}
#else
void exceptions_begin(void) {}
#endif

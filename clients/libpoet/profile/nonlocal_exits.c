/* Nonlocal exits: exceptions and jumps out of calls, which have ended then. */
#define _GNU_SOURCE
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- exceptions ---- In code of gcc, a function that an exception leaves calls the hook at
 * its end; in code of clang it does not: where the exception is caught, all calls below the
 * function with the handler have ended. A handler begins by __cxa_begin_catch (Itanium C++ ABI,
 * Exception Handling, 2.5.3), which is interposed here and calls the definition that the handler
 * would have called without libpoet: the first in the global scope or, if there is none, as in a C
 * program that opens a C++ library, the one in the scope of the caller's library. A program that is
 * linked statically, or contains its C++ library, calls its own. */

#if !defined(POET_STATIC)
#define NAME "__cxa_begin_catch"

typedef void *begin_catch(void *exception);
__attribute__((visibility("default"))) begin_catch __cxa_begin_catch;

/* Of a library that was loaded when the program began, and stays. */
static begin_catch *exceptions_first_hook;

static begin_catch *exceptions_is_other_hook(void *symbol)
{
    begin_catch *p;
    *(void **)&p = symbol;
    return p == __cxa_begin_catch ? NULL : p;
}

void exceptions_begin(void)
{
    exceptions_first_hook = exceptions_is_other_hook(next_in(RTLD_NEXT, NAME));
}

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
    begin_catch *next = exceptions_first_hook;
    return (next ? next : exceptions_find_for(__builtin_return_address(0)))(exception);
}
#else
void exceptions_begin(void) {}
#endif

/* ---- jumps ---- Calls below the target of the jump have ended. The C library hides that
 * address, but on x86-64 it can be recovered: the stack pointer, rotated and mixed with a number in
 * the thread's own control block. Elsewhere it is noticed when the next call begins further up. */

#if defined(__x86_64__) && defined(__GLIBC__)
enum { JUMP_STACK = 6 }; /* where in the buffer, as glibc's assembler has it */

static uint64_t longjmp_get_stack(const struct __jmp_buf_tag *to)
{
    uint64_t mixed = (uint64_t)to->__jmpbuf[JUMP_STACK];
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(mixed) : : "cc");
    return mixed;
}

/* The function that is the target called the hook from its frame: a return address, and what the
 * hook saved. */
static void longjmp_leave_calls(const struct __jmp_buf_tag *to)
{
    const struct traced_thread *t = thread_mine;
    if (t && t->profile)
        call_stack_cut(t->profile, instrument_wanted(t),
                       longjmp_get_stack(to) - 2 * sizeof(void *));
}
#else
static void longjmp_leave_calls(const struct __jmp_buf_tag *to) { (void)to; }
#endif

#if defined(POET_STATIC)
#define REAL_JUMP(name, member) __real_##name
#define DECLARE_REAL(name) void __real_##name(struct __jmp_buf_tag[1], int);
#else
#define REAL_JUMP(name, member) real_functions.member
#define DECLARE_REAL(name)
#endif
#define JUMP(name, member)                                                                         \
    DECLARE_REAL(name)                                                                             \
    __attribute__((visibility("default"), noreturn)) void PLAIN(name)(struct __jmp_buf_tag[1],     \
                                                                      int);                        \
    void PLAIN(name)(struct __jmp_buf_tag to[1], int value)                                        \
    {                                                                                              \
        real_find();                                                                               \
        longjmp_leave_calls(to);                                                                   \
        REAL_JUMP(name, member)(to, value);                                                        \
        __builtin_unreachable();                                                                   \
    }
JUMP(longjmp, longjmp)
JUMP(_longjmp, _longjmp)
JUMP(siglongjmp, siglongjmp)
JUMP(__longjmp_chk, longjmp_chk)

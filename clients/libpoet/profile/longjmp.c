/* Jumps out of calls: calls below the target of the jump have ended. The C library hides that
 * address, but on x86-64 it can be recovered: the stack pointer, rotated and mixed with a number in
 * the thread's own control block. Elsewhere it is noticed when the next call begins further up. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/call_stack.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/instrument_hooks.h"

#include <setjmp.h>

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
static void leave_calls(const struct __jmp_buf_tag *to)
{
    const struct traced_thread *t = thread_mine;
    if (t && t->profile)
        call_stack_cut(t->profile, instrument_wanted(t),
                       longjmp_get_stack(to) - 2 * sizeof(void *));
}
#else
static void leave_calls(const struct __jmp_buf_tag *to) { (void)to; }
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
        leave_calls(to);                                                                           \
        REAL_JUMP(name, member)(to, value);                                                        \
        __builtin_unreachable();                                                                   \
    }
JUMP(longjmp, longjmp)
JUMP(_longjmp, _longjmp)
JUMP(siglongjmp, siglongjmp)
JUMP(__longjmp_chk, longjmp_chk)

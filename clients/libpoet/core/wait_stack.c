#define _GNU_SOURCE
#include "clients/libpoet/core/wait_stack.h"

#include "clients/libpoet/core/heap_channel.h"
#include "clients/libpoet/core/libc_calls.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/unwind/stack_walk.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static struct first_stack wait_stack_first;

static struct wait_stack_code {
    uintptr_t from, bytes;
} wait_stack_own, wait_stack_libc;

static bool wait_stack_is_in(const struct wait_stack_code *code, uintptr_t site)
{
    return site - code->from < code->bytes;
}

void wait_stack_begin(void)
{
    if (getpid() == gettid())
        wait_stack_first = stack_walk_first();
#if !defined(POET_STATIC) /* there, these are parts of the program */
    wait_stack_own.from = unwind_rule_module((uintptr_t)wait_stack_begin, &wait_stack_own.bytes);
    wait_stack_libc.from =
        unwind_rule_module((uintptr_t)libc_bind_found("abort"), &wait_stack_libc.bytes);
#endif
}

struct wait_stack_walk {
    struct unwind_position at;
    uintptr_t end, known_end; /* of the stack that it is on */
    bool left_handler; /* the last step was from a signal handler's caller */
};

/* Returns the end of the stack on which signal handlers run, if the address is in it; else 0. */
static uintptr_t wait_stack_handlers_end(uintptr_t stack)
{
    stack_t other;
    int saved = errno;
    bool known = seccomp_allows(ALLOWED_STACKS) && syscall(SYS_sigaltstack, NULL, &other) == 0 &&
                 !(other.ss_flags & SS_DISABLE);
    errno = saved;
    uintptr_t from = known ? (uintptr_t)other.ss_sp : 0;
    return known && stack - from < other.ss_size ? from + other.ss_size : 0;
}

/* Finds the end of the stack that the position is on. Returns false if it is not known. */
static bool wait_stack_find_end(struct wait_stack_walk *w)
{
    w->known_end = poet_heap_stack_end(w->at.stack);
    w->end = w->known_end ? w->known_end : stack_walk_end(&wait_stack_first, w->at.stack);
    if (!w->end)
        w->end = wait_stack_handlers_end(w->at.stack);
    return w->end != 0;
}

/* Returns whether the kernel made a signal handler return there: mov $15, %rax; syscall. */
static bool wait_stack_is_handlers_return(uintptr_t address)
{
    static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    return modules_has_code(address) && modules_has_code(address + sizeof code - 1) &&
           memcmp((const void *)address, code, sizeof code) == 0;
}

/* Continues from the caller of a signal handler with what that interrupted. */
static bool wait_stack_leave_handler(struct wait_stack_walk *w)
{
#if defined(__x86_64__)
    const ucontext_t *interrupted = (const void *)w->at.stack;
    if (w->end - w->at.stack <
            offsetof(ucontext_t, uc_mcontext) + sizeof interrupted->uc_mcontext ||
        !wait_stack_is_handlers_return(w->at.site + 1))
        return false;
    const greg_t *registers = interrupted->uc_mcontext.gregs;
    w->at = (struct unwind_position){(uintptr_t)registers[REG_RIP], (uintptr_t)registers[REG_RSP],
                                     (uintptr_t)registers[REG_RBP]};
    return w->at.stack % 8 == 0 && wait_stack_find_end(w);
#else
    (void)w;
    return false;
#endif
}

static bool wait_stack_step(struct wait_stack_walk *w, bool *whole)
{
    const uintptr_t *saved;
    w->left_handler = false;
    if (stack_walk_step(&w->at, &saved, w->end, w->known_end, whole))
        return true;
    w->left_handler = !*whole && wait_stack_leave_handler(w);
    return w->left_handler;
}

#define WAIT_STACK_STEPS 40u /* including those within libpoet and the C++ library */
#define WAIT_STACK_START 4u  /* functions at the start of a thread, at most */

/* Removes the functions of the C library in which a thread starts. Returns how many remain. */
static uint32_t wait_stack_trim_start(const uintptr_t *callers, uint32_t count)
{
    count -= count && unwind_rule_get(callers[count - 1]).is == UNWIND_OUTERMOST;
    while (count && wait_stack_is_in(&wait_stack_libc, callers[count - 1]))
        count--;
    return count;
}

static void wait_stack_store(struct slot_stack *stack, const uintptr_t *callers, uint32_t count,
                             enum stack_end end)
{
    uint32_t all = end == STACK_WHOLE ? wait_stack_trim_start(callers, count) : count;
    *stack = (struct slot_stack){.count = all < STACK_CALLERS ? all : STACK_CALLERS, .end = end};
    if (all > STACK_CALLERS)
        stack->end = STACK_CUT;
    const struct traced_thread *t = thread_mine;
    for (uint32_t i = 0; i < stack->count; i++) {
        stack->callers[i] = callers[i];
        bool known = t && callers[i] - t->module_start < t->module_bytes;
        /* (the last one of an unknown end may be in code that no module has) */
        if (!known && (end != STACK_UNKNOWN || i + 1 < count))
            modules_check_function(callers[i]);
    }
}

__attribute__((noinline, no_sanitize("address"))) const struct slot_stack *
wait_stack_read(uintptr_t site, struct slot_stack *stack)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    struct wait_stack_walk w = {.at = {frame[1] - 1, (uintptr_t)(frame + 2), frame[0]}};
    uintptr_t callers[STACK_CALLERS + WAIT_STACK_START];
    uint32_t count = 0, most = sizeof callers / sizeof *callers;
    bool whole = false, found = false, more = wait_stack_find_end(&w);
    for (unsigned i = 0; more && count < most && i < WAIT_STACK_STEPS; i++) {
        if (found && !wait_stack_is_in(&wait_stack_own, w.at.site))
            callers[count++] = w.at.site;
        found = found || site - w.at.site <= 1; /* libraries of Poet use return addresses */
        more = wait_stack_step(&w, &whole);
        count -= w.left_handler && count;
    }
    if (found)
        wait_stack_store(stack, callers, count,
                         more    ? STACK_CUT
                         : whole ? STACK_WHOLE
                                 : STACK_UNKNOWN);
    return found ? stack : NULL;
}

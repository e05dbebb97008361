#define _GNU_SOURCE
#include "clients/libpoet/core/wait_stack.h"

#include "clients/libpoet/core/heap_channel.h"
#include "clients/libpoet/core/libc_calls.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/return_address.h"
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
    unwind_return_places.from = (uintptr_t)poet_return_places(&unwind_return_places.bytes);
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

#define WAIT_STACK_OTHERS 29u /* steps within libpoet and the C++ library */
#define WAIT_STACK_START 4u  /* functions at the start of a thread, at most */

/* Removes the functions of the C library in which a thread starts. Returns how many remain. */
static uint32_t wait_stack_trim_start(const uintptr_t *callers, uint32_t count)
{
    count -= count && unwind_rule_get(callers[count - 1]).is == UNWIND_OUTERMOST;
    while (count && wait_stack_is_in(&wait_stack_libc, callers[count - 1]))
        count--;
    return count;
}

static void wait_stack_store(struct slot_stack *stack, const struct call_stack_sites *from)
{
    uint32_t all = from->count ? from->count - 1 : 0;
    *stack =
        (struct slot_stack){.count = all < STACK_CALLERS ? all : STACK_CALLERS, .end = from->end};
    if (all > STACK_CALLERS)
        stack->end = STACK_CUT;
    const struct traced_thread *t = thread_mine;
    for (uint32_t i = 0; i < stack->count; i++) {
        stack->callers[i] = from->sites[i + 1];
        bool known = t && stack->callers[i] - t->module_start < t->module_bytes;
        /* (the last one of an unknown end may be in code that no module has) */
        if (!known && (from->end != STACK_UNKNOWN || i + 1 < all))
            modules_check_function(stack->callers[i]);
    }
}

/* Sets how the walk ended, and removes the start of the thread. */
static void wait_stack_finish(struct call_stack_sites *list, bool more, bool whole)
{
    list->end = more ? STACK_CUT : whole ? STACK_WHOLE : STACK_UNKNOWN;
    if (list->end == STACK_WHOLE)
        list->count = wait_stack_trim_start(list->sites, list->count);
}

__attribute__((noinline, no_sanitize("address"))) bool
wait_stack_collect(uintptr_t site, struct call_stack_sites *list)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    struct wait_stack_walk w = {.at = {frame[1] - 1, (uintptr_t)(frame + 2), frame[0]}};
    bool whole = false, found = false, more = wait_stack_find_end(&w);
    list->count = 0;
    for (unsigned i = 0; more && list->count < list->most && i < list->most + WAIT_STACK_OTHERS;
         i++) {
        found = found || site - w.at.site <= 1; /* libraries of Poet use return addresses */
        if (found && !wait_stack_is_in(&wait_stack_own, w.at.site))
            list->sites[list->count++] = w.at.site;
        more = wait_stack_step(&w, &whole);
        list->count -= w.left_handler && list->count;
    }
    wait_stack_finish(list, more, whole);
    return found;
}

/* Where the interrupted instruction has no unwind table: its function has a frame pointer, or has
 * only just been called, and the caller is one that has a table. */
static bool wait_stack_guess_caller(struct wait_stack_walk *w)
{
    uintptr_t frame = w->at.frame, stack = w->at.stack;
    bool framed = frame > stack && frame % 8 == 0 && w->end - frame >= 16 && frame < w->end;
    const uintptr_t *places[] = {(const uintptr_t *)stack,
                                 (const uintptr_t *)(framed ? frame + 8 : stack)};
    for (int i = 0; i <= framed && w->end - stack >= 8; i++) {
        uintptr_t site = *places[i] - 1;
        if (!modules_has_code(site) || unwind_rule_get(site).is == RULE_UNKNOWN)
            continue;
        w->at = (struct unwind_position){site, (uintptr_t)(places[i] + 1),
                                         i ? *(const uintptr_t *)frame : frame};
        return true;
    }
    return false;
}

__attribute__((no_sanitize("address"))) void
wait_stack_collect_interrupted(const void *context, struct call_stack_sites *list)
{
    struct wait_stack_walk w = {.at = {0, 0, 0}};
    bool whole = false;
    list->count = 0;
    list->in_libpoet = false;
#if defined(__x86_64__)
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    w.at = (struct unwind_position){(uintptr_t)registers[REG_RIP], (uintptr_t)registers[REG_RSP],
                                    (uintptr_t)registers[REG_RBP]};
#else
    (void)context;
#endif
    bool more = w.at.stack % 8 == 0 && wait_stack_find_end(&w);
    if (w.at.site && !more)
        list->sites[list->count++] = w.at.site;
    for (unsigned i = 0; more && list->count < list->most && i < list->most; i++) {
        bool own = wait_stack_is_in(&wait_stack_own, w.at.site);
        list->in_libpoet |= own && !list->count;
        if (!own)
            list->sites[list->count++] = w.at.site;
        more = wait_stack_step(&w, &whole) || (!i && !whole && wait_stack_guess_caller(&w));
        list->count -= w.left_handler && list->count;
    }
    wait_stack_finish(list, more, whole);
}

__attribute__((noinline)) const struct slot_stack *wait_stack_read(uintptr_t site,
                                                                   struct slot_stack *stack)
{
    uintptr_t sites[1 + STACK_CALLERS + WAIT_STACK_START];
    struct call_stack_sites list = {.sites = sites, .most = sizeof sites / sizeof *sites};
    if (!wait_stack_collect(site, &list))
        return NULL;
    wait_stack_store(stack, &list);
    return stack;
}

#define _GNU_SOURCE
#include "clients/trace/measure/leftout.h"

#include "clients/trace/core/allowed.h"
#include "clients/trace/measure/region.h"
#include "clients/trace/measure/throttle.h"

#include <sys/syscall.h>
#include <unistd.h>

enum pick (*_Atomic frames_pick)(uint64_t function);

enum pick leftout_pick(const struct measured *m, uint64_t function)
{
    enum pick (*pick)(uint64_t) = atomic_load_explicit(&frames_pick, memory_order_relaxed),
              is = pick && !m->all ? pick(function) : PICK_MEASURED;
    return is == PICK_MEASURED && throttle_is(m, function) ? PICK_COUNTED : is;
}

void frames_heed(struct measured *m)
{
    m->ignored = 0;
    atomic_signal_fence(memory_order_seq_cst);
    m->room = REGION_FRAMES;
}

stack_t leftout_stack(void)
{
    stack_t other = {.ss_flags = SS_DISABLE};
    if (allowed(ALLOWED_STACKS))
        syscall(SYS_sigaltstack, NULL, &other);
    return other;
}

/* Of a signal handler: there an address says nothing. */
bool leftout_elsewhere(const struct measured *m, uint64_t stack)
{
    stack_t other = leftout_stack();
    return leftout_on(&other, stack) != leftout_on(&other, m->ignored_stack);
}

/* Else it is open no more: a jump has ended it. */
bool leftout_within(struct measured *m, uint64_t stack)
{
    if (LIKELY(stack <= m->ignored_stack + FRAMES_SLACK) || leftout_elsewhere(m, stack))
        return true;
    frames_heed(m);
    return false;
}

/* Until the call ends nothing takes the straight way.  Twice, as a handler in between may have had its own. */
static void ignore(struct measured *m, uint64_t function, uint64_t stack)
{
    for (int i = 0; i < 2; i++) {
        m->ignored_stack = stack;
        m->ignored_open = 1;
        atomic_signal_fence(memory_order_seq_cst);
        m->ignored = function;
        atomic_signal_fence(memory_order_seq_cst);
        m->room = 0;
        atomic_signal_fence(memory_order_seq_cst);
    }
}

static void count_only(struct measured *m, uint64_t function, uint64_t site)
{
    uint32_t parent = frames_top(m)->lands,
             c = atomic_load_explicit(context_known_counted(m, parent, function, site),
                                      memory_order_relaxed);
    const struct region_context *is = &contexts_of(m)[c];
    if (is->function != function || is->site != site || is->parent != parent)
        c = context_find(m, parent, function, site, SCOPE_COUNTED);
    sum_add(&contexts_of(m)[c].calls, 1);
    sum_add(&contexts_of(m)[c].ended, 1); /* as far as is known of it */
    if (atomic_load_explicit(&threads_running, memory_order_relaxed) > 1)
        sum_add(&contexts_of(m)[c].concurrent, 1);
}

/* A function may become counted only while a call of it is open: until that ends, what it calls of itself directly has
 * frames, so that its end is told from theirs. */
bool leftout_is(struct measured *m, uint64_t function, uint64_t site, uint64_t stack)
{
    enum pick pick = leftout_pick(m, function);
    if (pick == PICK_IGNORED)
        ignore(m, function, stack);
    if (pick == PICK_COUNTED && frames_top(m)->function == function)
        return false;
    if (pick == PICK_COUNTED)
        count_only(m, function, site);
    return pick != PICK_MEASURED;
}

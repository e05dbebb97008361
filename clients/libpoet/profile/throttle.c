#include "clients/libpoet/profile/throttle.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/call_stack.h"

#define FUNCTIONS 1024u
#define SLOTS (2 * FUNCTIONS)
#define OFTEN 100000u /* calls of one function in one thread, at least */
#define LOOKS_FROM 4096u /* at so many calls of one context, and twice as many, and so on */

static struct {
    uint64_t function, since;
} all[FUNCTIONS]; /* those below the number of throttled ones stay as they are */
static _Atomic uint32_t slots[SLOTS]; /* 1 + index, by function */
static atomic_flag throttle_add_flag = ATOMIC_FLAG_INIT;

/* Returns its slot, or the empty one where it would be. */
static _Atomic uint32_t *throttle_slot(uint64_t function)
{
    for (uint64_t i = function * 0x9e3779b97f4a7c15u >> 40;; i++) {
        _Atomic uint32_t *slot = &slots[i % SLOTS];
        uint32_t n = atomic_load_explicit(slot, memory_order_acquire);
        if (!n || all[n - 1].function == function)
            return slot;
    }
}

bool throttle_is_throttled(const struct thread_profile *m, uint64_t function)
{
    uint32_t n =
        m->throttled ? atomic_load_explicit(throttle_slot(function), memory_order_relaxed) : 0;
    return n && n <= m->throttled;
}

uint64_t throttle_since(uint64_t function)
{
    uint32_t n = atomic_load_explicit(throttle_slot(function), memory_order_relaxed);
    return n ? all[n - 1].since : 0;
}

/* If another thread is doing this, it is left for another time. */
static void throttle_add(uint64_t function)
{
    if (atomic_flag_test_and_set(&throttle_add_flag))
        return;
    uint32_t n = atomic_load(&tracer.profile.throttled);
    _Atomic uint32_t *slot = throttle_slot(function);
    if (n < FUNCTIONS && !atomic_load(slot)) {
        all[n].function = function;
        all[n].since = tracer_clock_now();
        atomic_store_explicit(slot, n + 1, memory_order_release);
        atomic_store(&tracer.profile.throttled, n + 1);
    }
    atomic_flag_clear(&throttle_add_flag);
}

/* From here on no call of a throttled function takes the fast path. None of its calls is open
 * without a frame: they would be above the deepest frame, and this one has a frame. */
static void throttle_apply(struct thread_profile *m, uint32_t count)
{
    m->throttled = count;
    for (uint32_t i = 0; i < KNOWN_CONTEXTS; i++)
        atomic_store_explicit(&m->known[i], 0, memory_order_relaxed);
}

/* Returns whether its calls take less than twice the measured overhead. */
static bool is_short(const struct thread_profile *m, uint64_t function)
{
    uint32_t count = atomic_load(&m->head->contexts);
    uint64_t calls = 0, own = 0, cost_256 = (uint64_t)m->head->enter_256 + m->head->exit_256;
    for (uint32_t c = 1; c < count; c++) {
        const struct profile_region_context *is = &contexts_of(m)[c];
        if (is->function != function || is->scope != SCOPE_FUNCTION)
            continue;
        calls += sum_of(&is->ended);
        own += sum_of(&is->own);
    }
    return calls > OFTEN && own < 2 * cost_256 * calls / 256;
}

void throttle_check(struct thread_profile *m, uint32_t context)
{
    const struct profile_region_context *c = &contexts_of(m)[context];
    uint64_t calls = sum_of(&c->calls);
    bool due = calls >= LOOKS_FROM && (calls & (calls - 1)) == 0 && c->scope == SCOPE_FUNCTION;
    if (UNLIKELY(due) && is_short(m, c->function))
        throttle_add(c->function);
    uint32_t count = atomic_load_explicit(&tracer.profile.throttled, memory_order_acquire);
    if (UNLIKELY(count != m->throttled))
        throttle_apply(m, count);
}

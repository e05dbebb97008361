/* Call stack: begin and end of calls. This runs at every call of an instrumented program: the fast
 * path is short, everything else is elsewhere. A frame is reserved before it is filled, so that a
 * signal handler in between puts its own calls above it. `began` is 0 in frames that are not open,
 * and in those of calls that are only counted. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/call_stack.h"

#include "clients/libpoet/profile/activity.h"
#include "clients/libpoet/profile/call_log.h"
#include "clients/libpoet/profile/excluded_functions.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/count_fast_path.h"
#include "clients/libpoet/profile/throttle.h"

/* Time that a handler in between has measured already is not measured twice. */
static inline uint64_t call_stack_elapsed(uint64_t from, uint64_t to)
{
    return (int64_t)(to - from) > 0 ? to - from : 0;
}

/* Returns the ticks that the thread has run, by its last reading. A reading takes time: its result
 * refers to that moment, *now. */
static inline uint64_t call_stack_cpu_time(struct thread_profile *m, uint32_t wanted,
                                           const struct profile_region_frame *innermost,
                                           uint64_t *now)
{
    if (wanted & WANTED_CPU && UNLIKELY(call_stack_elapsed(m->last, *now) > m->gap) &&
        cpu_gap_check(m, innermost))
        *now = m->last;
    else
        m->last = *now;
    return *now - m->off;
}

static inline void call_stack_update_range(_Atomic uint64_t *least, _Atomic uint64_t *most,
                                           uint64_t value)
{
    if (UNLIKELY(value < sum_of(least)))
        sum_set(least, value);
    if (UNLIKELY(value > sum_of(most)))
        sum_set(most, value);
}

/* Includes a call of that duration in the minimum and maximum of its context. */
static inline void call_stack_include(struct profile_region_context *of, struct call_intervals call)
{
    call_stack_update_range(&of->real_least, &of->real_most, call.real);
    call_stack_update_range(&of->own_least, &of->own_most, call.own);
}

/* ---- a call begins ---- */

/* Fast paths make only tail calls, so that they need not save registers: not within the gap. */
static inline bool call_stack_within_gap(const struct thread_profile *m, uint32_t wanted,
                                         uint64_t now)
{
    return !(wanted & WANTED_CPU) || call_stack_elapsed(m->last, now) <= m->gap;
}

/* Extra work at the begin of timed calls. (Its arguments are where time_begin has them.) */
static __attribute__((noinline)) void call_stack_begin_extra(struct thread_profile *m,
                                                             uint32_t wanted, uint64_t now,
                                                             const struct profile_region_frame *f,
                                                             uint32_t context)
{
    if (wanted & WANTED_EVERY)
        call_log_begin(m, f, context, now);
    if (wanted & WANTED_THROTTLE)
        throttle_check(m, context);
}

/* If this is interrupted for good, a time may be lost; none counts twice. A handler that interrupts
 * it counts the caller's time up to its own calls, and they take part in no other. */
static inline void call_stack_enter(struct thread_profile *m, uint32_t wanted,
                                    struct profile_region_frame *up, struct profile_region_frame *f,
                                    uint32_t context, uint64_t now, uint64_t ran,
                                    struct call_change change)
{
    uint64_t own = call_stack_elapsed(up->ran, ran), from = ran;
    up->ran = ran;
    if (UNLIKELY(frames_overtaken(m, &change.count, &now, &ran)) && up->ran == from)
        own = 0; /* it came before that, and has counted it */
    sum_set(&up->own, sum_of(&up->own) + own);
    f->ran = ran;
    sum_set(&f->own, 0);
    sum_set(&f->began, now);
    while (UNLIKELY(frames_overtaken(m, &change.count, &now, &ran)))
        f->ran = ran;
    activity_switch(m, now, 2 * context);
    call_stack_change_end(m, change);
    if (UNLIKELY(wanted & (WANTED_EVERY | WANTED_THROTTLE)))
        call_stack_begin_extra(m, wanted, now, f, context);
}

/* Counts the time until then for the call that `up`, half done, counts for. */
static void call_stack_leave_live(struct thread_profile *m, struct profile_region_frame *up,
                                  uint64_t ran)
{
    struct profile_region_frame *live = frames_live(m, up);
    if (!sum_of(&live->began))
        return;
    sum_set(&live->own, sum_of(&live->own) + call_stack_elapsed(live->ran, ran));
    live->ran = ran;
}

static __attribute__((noinline)) void
call_stack_time_begin_slow(struct thread_profile *m, uint32_t wanted,
                           struct profile_region_frame *up, struct profile_region_frame *f,
                           uint32_t context, struct call_change change)
{
    uint64_t now = thread_profile_ticks(m), ran = call_stack_cpu_time(m, wanted, up, &now);
    if (!sum_of(&up->began)) {
        /* its time begins now; for others it is not known */
        bool outermost = up->stack == OUTERMOST;
        sum_set(&up->began, outermost ? now : 0);
        up->ran = ran;
        if (!outermost)
            call_stack_leave_live(m, up, ran);
    }
    call_stack_enter(m, wanted, up, f, context, now, ran, change);
}

static __attribute__((noinline)) void
call_stack_time_begin(struct thread_profile *m, uint32_t wanted, struct profile_region_frame *up,
                      struct profile_region_frame *f, uint32_t context)
{
    struct call_change change = call_stack_change_begin(m, f);
    contexts_of(m)[contexts_of(m)[context].first].open++;
    if (LIKELY(thread_profile_clock_is_ticks() && sum_of(&up->began))) {
        uint64_t now = CLOCK_TICKS();
        if (LIKELY(call_stack_within_gap(m, wanted, now))) {
            m->last = now;
            call_stack_enter(m, wanted, up, f, context, now, now - m->off, change);
            return;
        }
    }
    call_stack_time_begin_slow(m, wanted, up, f, context, change);
}

static uint32_t call_stack_count_call(struct thread_profile *m,
                                      const struct profile_region_frame *up, uint64_t function,
                                      uint64_t site, uint32_t scope)
{
    uint32_t c = context_tree_find_cached(m, up->lands, function, site, scope);
    fast_path_count_call(&contexts_of(m)[c]);
    return c;
}

/* Too many calls are open: the call is counted, its time is its caller's. */
static __attribute__((noinline)) void
call_stack_enter_deep(struct thread_profile *m, uint64_t function, uint64_t site, uint32_t scope)
{
    uint32_t c = call_stack_count_call(m, call_stack_top(m), function, site, scope);
    sum_add(&contexts_of(m)[c].ended, 1); /* considering the calls that are known */
    sum_add(&m->head->deep, 1);
    fast_path_set_depth(m->head, call_stack_depth(m) + 1);
}

static void call_stack_leave_dead(struct thread_profile *m, uint32_t wanted, uint64_t stack);

static inline void look_for_child(struct thread_profile *m)
{
    if (UNLIKELY(m->vforked.leaves))
        frames_rejoin(m);
}

static inline __attribute__((always_inline)) void call_stack_push(struct thread_profile *m,
                                                                  uint32_t wanted, uint32_t depth,
                                                                  uint32_t c, uint64_t function,
                                                                  uint64_t stack)
{
    struct profile_region_frame *f = &frames_of(m)[depth];
    fast_path_push(m->head, f, depth, &contexts_of(m)[c], c, function, stack);
    if (wanted & (WANTED_REAL | WANTED_CPU))
        call_stack_time_begin(m, wanted, f - 1, f, c);
}

static __attribute__((noinline)) void call_stack_enter_slow(struct thread_profile *m,
                                                            uint32_t wanted, uint64_t function,
                                                            uint64_t site, uint32_t scope,
                                                            uint64_t stack)
{
    look_for_child(m);
    if (m->sampling)
        return;
    if (m->ignored && excluded_function_is_within(m, stack)) {
        m->ignored_open += scope == SCOPE_FUNCTION && function == m->ignored;
        return;
    }
    if (call_stack_top(m)->stack < stack - CALL_STACK_SLACK)
        call_stack_leave_dead(m, wanted, stack);
    if (scope == SCOPE_FUNCTION && excluded_function_check(m, function, site, stack))
        return;
    uint32_t depth = call_stack_depth(m);
    if (depth >= REGION_FRAMES)
        call_stack_enter_deep(m, function, site, scope);
    else
        call_stack_push(m, wanted, depth,
                        call_stack_count_call(m, call_stack_top(m), function, site, scope),
                        function, stack);
}

/* Slow paths are tail calls, so that the fast path need not save registers. */
void call_stack_function_enter(struct thread_profile *m, uint32_t wanted, uint64_t function,
                               uint64_t site, uint32_t scope, uint64_t stack)
{
    uint32_t depth = call_stack_depth(m);
    const struct profile_region_frame *up = &frames_of(m)[depth - 1];
    if (LIKELY(depth < m->room && stack - CALL_STACK_SLACK <= up->stack)) {
        uint32_t c = atomic_load_explicit(context_tree_cached(m, up->lands, function, site),
                                          memory_order_relaxed);
        struct profile_region_context *to = &contexts_of(m)[c];
        if (LIKELY(context_tree_is(to, up->lands, function, site))) {
            fast_path_count_call(to);
            call_stack_push(m, wanted, depth, c, function, stack);
            return;
        }
    }
    call_stack_enter_slow(m, wanted, function, site, scope, stack);
}

void call_stack_resume(struct thread_profile *m, uint32_t wanted, uint32_t context,
                       uint64_t function, uint64_t stack)
{
    if (call_stack_depth(m) < REGION_FRAMES)
        call_stack_push(m, wanted, call_stack_depth(m), context, function, stack);
}

bool call_stack_base_enter(struct thread_profile *m, uint32_t wanted)
{
    bool room = call_stack_depth(m) < REGION_FRAMES;
    call_stack_resume(m, wanted, 0, 0, OUTERMOST);
    return room;
}

/* ---- a call ends ---- */

/* Sets since when the caller runs itself. */
static inline void call_stack_return(struct thread_profile *m, struct profile_region_frame *f,
                                     uint64_t ran)
{
    if (UNLIKELY(f == frames_of(m)))
        return;
    f[-1].ran = ran;
    if (UNLIKELY(!sum_of(&f[-1].began)))
        frames_live(m, f - 1)->ran = ran;
}

/* Returns the intervals in which the call ran before the frame began. */
static inline struct call_intervals call_stack_earlier(const struct thread_profile *m,
                                                       const struct profile_region_frame *f,
                                                       uint64_t began)
{
    const struct coroutine_calls *of = m->resumed;
    uint32_t number = of ? (uint32_t)(f - frames_of(m)) - of->base : 0;
    return of && number < of->count && of->calls[number].earlier.began == began
               ? of->calls[number].earlier
               : (struct call_intervals){0};
}

/* Returns the intervals of the call. That has ended once it has no begin any more, so that no time
 * counts twice if this is interrupted for good. Between call_stack_change_begin() and
 * call_stack_change_end(). */
static inline __attribute__((always_inline)) struct call_intervals
call_stack_time_end(struct thread_profile *m, struct profile_region_frame *f,
                    struct profile_region_context *of, uint64_t now, uint64_t ran, bool every,
                    struct call_change change)
{
    frames_overtaken(m, &change.count, &now, &ran);
    uint64_t own = sum_of(&f->own) + call_stack_elapsed(f->ran, ran),
             real = call_stack_elapsed(sum_of(&f->began), now);
    struct call_intervals all = {0};
    if (UNLIKELY(m->resumed))
        all = call_stack_earlier(m, f, sum_of(&f->began));
    call_stack_return(m, f, ran);
    atomic_signal_fence(memory_order_seq_cst);
    sum_set(&f->began, 0);
    while (UNLIKELY(frames_overtaken(m, &change.count, &now, &ran)))
        call_stack_return(m, f, ran);
    if (every && m->call_log.ring)
        call_log_end(m, f, atomic_load_explicit(&f->context, memory_order_relaxed), now);
    /* Real time first: if a jump interrupts this, own time does not exceed it. */
    /* otherwise it is part of the outer call's */
    if (LIKELY(contexts_of(m)[of->first].open-- == 1))
        sum_add(&of->real, real);
    atomic_signal_fence(memory_order_seq_cst);
    sum_add(&of->own, own);
    activity_switch(m, now, 2 * (uint32_t)(of - contexts_of(m)) + 1);
    return (struct call_intervals){0, all.real + real, all.own + own};
}

/* every: calls may be logged. */
static inline __attribute__((always_inline)) void
call_stack_pop(struct thread_profile *m, struct profile_region_frame *f, uint32_t depth,
               uint64_t now, uint64_t ran, bool every, struct call_change change)
{
    struct profile_region_context *of =
        &contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)];
    if (sum_of(&f->began))
        call_stack_include(of, call_stack_time_end(m, f, of, now, ran, every, change));
    sum_add(&of->ended, 1);
    fast_path_set_depth(m->head, depth - 1);
}

void call_stack_drop(struct thread_profile *m, uint64_t now, uint64_t ran)
{
    struct profile_region_frame *f = call_stack_top(m);
    struct call_change change = call_stack_change_begin(m, f);
    call_stack_pop(m, f, call_stack_depth(m), now, ran, true, change);
    call_stack_change_end(m, change);
}

uint64_t call_stack_now(struct thread_profile *m, const struct queue_head *queue, uint64_t *ran)
{
    uint64_t now = thread_profile_ticks(m);
    *ran = call_stack_cpu_time(m, atomic_load_explicit(&queue->wanted, memory_order_relaxed),
                               call_stack_top(m), &now);
    return now;
}

struct call_intervals call_stack_pause(struct thread_profile *m, uint64_t now, uint64_t ran,
                                       bool ends)
{
    struct profile_region_frame *f = call_stack_top(m);
    struct profile_region_context *of = frames_timed(m, f);
    struct call_intervals all = {0};
    struct call_change change = call_stack_change_begin(m, f);
    m->paused = true;
    bool timed = sum_of(&f->began) != 0;
    if (timed)
        all = call_stack_time_end(m, f, of, now, ran, true, change);
    if (timed && ends)
        call_stack_include(of, all);
    fast_path_set_depth(m->head, (uint32_t)(f - frames_of(m)));
    call_stack_change_end(m, change);
    return ends ? (struct call_intervals){0} : all;
}

void call_stack_base_leave(struct thread_profile *m, uint64_t ran)
{
    struct profile_region_frame *f = call_stack_top(m);
    if (f == frames_of(m))
        return; /* the thread itself */
    if (sum_of(&f->began)) {
        uint64_t own = sum_of(&f->own) + call_stack_elapsed(f->ran, ran);
        sum_set(&f->began, 0);
        f[-1].ran = ran;
        atomic_signal_fence(memory_order_seq_cst);
        sum_add(&contexts_of(m)[0].own, own);
        contexts_of(m)[0].open--;
    }
    fast_path_set_depth(m->head, (uint32_t)(f - frames_of(m)));
    if (m->activity.known) /* it resumes where it was, after its calls there */
        activity_switch(
            m, m->activity.since,
            2 * atomic_load_explicit(&call_stack_top(m)->context, memory_order_relaxed));
}

/* Removes frames of calls that ended without a recorded end. */
static struct profile_region_frame *call_stack_cut_above(struct thread_profile *m, uint32_t wanted,
                                                         struct profile_region_frame *f)
{
    if (call_stack_top(m) <= f)
        return f;
    struct call_change change = call_stack_change_begin(m, call_stack_top(m));
    uint64_t now = thread_profile_ticks(m),
             ran = call_stack_cpu_time(m, wanted, call_stack_top(m), &now);
    while (call_stack_top(m) > f)
        call_stack_pop(m, call_stack_top(m), call_stack_depth(m), now, ran, true, change);
    call_stack_change_end(m, change);
    return f;
}

/* Stack address above which calls were begun by the parent of this process; 0: not a child of
 * fork. */
static __thread uint64_t forked_at __attribute__((tls_model("initial-exec")));

void frames_forked(uint64_t stack) { forked_at = stack; }

/* Ends a call that is not the innermost one: its callees have ended, too, as after an exception
 * through uninstrumented code. Returns NULL if it was not open. */
static __attribute__((noinline)) struct profile_region_frame *
call_stack_find_ended(struct thread_profile *m, uint32_t wanted, uint64_t function, uint64_t stack)
{
    uint32_t depth = call_stack_depth(m);
    if (depth > REGION_FRAMES) {
        fast_path_set_depth(m->head, depth - 1);
        return NULL;
    }
    struct profile_region_frame *f = call_stack_top(m);
    while (f->stack != OUTERMOST && f->function != function && f->stack <= stack)
        f--;
    if (f->stack != OUTERMOST && f->function == function)
        return call_stack_cut_above(m, wanted, f);
    bool parents = forked_at && stack > forked_at;
    if (wanted & WANTED_CALLS && !parents) /* otherwise its begin was not recorded */
        sum_add(&m->head->mismatched, 1);
    return NULL;
}

static __attribute__((noinline)) void call_stack_exit_timed_slow(struct thread_profile *m,
                                                                 uint32_t wanted,
                                                                 struct profile_region_frame *f,
                                                                 uint32_t depth,
                                                                 struct call_change change)
{
    uint64_t now = thread_profile_ticks_later(m), ran = call_stack_cpu_time(m, wanted, f, &now);
    call_stack_pop(m, f, depth, now, ran, true, change);
    call_stack_change_end(m, change);
}

static __attribute__((noinline)) void call_stack_exit_timed(struct thread_profile *m,
                                                            uint32_t wanted,
                                                            struct profile_region_frame *f,
                                                            uint32_t depth)
{
    struct call_change change = call_stack_change_begin(m, f);
    if (LIKELY(thread_profile_clock_is_ticks() && !m->call_log.ring)) {
        uint64_t now = thread_profile_ticks_from();
        if (LIKELY(call_stack_within_gap(m, wanted, now))) {
            m->last = now;
            call_stack_pop(m, f, depth, now, now - m->off, false, change);
            call_stack_change_end(m, change);
            return;
        }
    }
    call_stack_exit_timed_slow(m, wanted, f, depth, change);
}

/* Returns whether an ignored call ended unnoticed, by a jump. */
static bool call_stack_ends_within_ignored(struct thread_profile *m, uint64_t function,
                                           uint64_t stack)
{
    if (!excluded_function_is_within(m, stack))
        return false;
    if (function == m->ignored && --m->ignored_open == 0)
        call_stack_end_ignored(m);
    return true;
}

static __attribute__((noinline)) void
call_stack_exit_slow(struct thread_profile *m, uint32_t wanted, uint64_t function, uint64_t stack)
{
    look_for_child(m);
    if (m->sampling)
        return;
    if (m->ignored && call_stack_ends_within_ignored(m, function, stack))
        return;
    if (function > UINT16_MAX && excluded_function_measurement(m, function) != MEASUREMENT_FULL)
        return; /* it has no frame */
    struct profile_region_frame *f = call_stack_find_ended(m, wanted, function, stack);
    if (f)
        call_stack_exit_timed(m, wanted, f, call_stack_depth(m));
}

/* (A function of its own, so that the fast path need not save registers.) */
static __attribute__((noinline)) void call_stack_exit(struct thread_profile *m, uint32_t context)
{
    activity_switch(m, thread_profile_ticks(m), 2 * context + 1);
}

void call_stack_function_exit(struct thread_profile *m, uint32_t wanted, uint64_t function,
                              uint64_t stack)
{
    uint32_t depth = call_stack_depth(m);
    struct profile_region_frame *f = &frames_of(m)[depth - 1];
    if (UNLIKELY(depth > m->room || f->function != function)) {
        call_stack_exit_slow(m, wanted, function, stack);
    } else if (sum_of(&f->began)) {
        call_stack_exit_timed(m, wanted, f, depth);
    } else {
        uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
        sum_add(&contexts_of(m)[c].ended, 1);
        fast_path_set_depth(m->head, depth - 1);
        if (UNLIKELY(m->activity.known))
            call_stack_exit(m, c);
    }
}

void call_stack_scope_exit(struct thread_profile *m, uint32_t wanted, uint32_t scope)
{
    look_for_child(m);
    struct profile_region_frame *f = call_stack_top(m);
    if (m->ignored || m->sampling)
        return;
    while (f->stack != OUTERMOST &&
           contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)].scope != scope)
        f--;
    if (f->stack == OUTERMOST || call_stack_depth(m) > REGION_FRAMES) {
        sum_add(&m->head->mismatched, 1);
        return;
    }
    call_stack_function_exit(m, wanted, f->function, call_stack_cut_above(m, wanted, f)->stack);
}

/* ---- calls without a recorded end ---- */

static uint32_t call_stack_first_in(const struct thread_profile *m,
                                    const struct profile_region_frame *f)
{
    return contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)].first;
}

/* Returns how many timed frames a function has. */
static uint32_t call_stack_count_open(const struct thread_profile *m, uint32_t first)
{
    uint32_t open = 0;
    for (const struct profile_region_frame *f = frames_of(m); f <= call_stack_top(m); f++)
        open += call_stack_first_in(m, f) == first && (sum_of(&f->began) || f == frames_of(m));
    return open;
}

/* What frames up to the one that was the innermost counted, half done, in the functions that they
 * were of. */
static void call_stack_repair_counts(struct thread_profile *m,
                                     const struct profile_region_frame *innermost)
{
    m->changing_stack = 0;
    for (const struct profile_region_frame *f = call_stack_top(m) + 1; f <= innermost; f++)
        contexts_of(m)[call_stack_first_in(m, f)].open =
            call_stack_count_open(m, call_stack_first_in(m, f));
}

/* Returns whether the begin or end of a call, interrupted by a handler, will not continue, because
 * the jump goes further up. */
static bool call_stack_is_left(uint64_t half_done, uint64_t stack, const stack_t *other)
{
    return half_done && (excluded_function_is_on_stack(other, half_done) ==
                                 excluded_function_is_on_stack(other, stack)
                             ? half_done < stack
                             : !excluded_function_is_on_stack(other, stack));
}

/* (Since when the caller of a half-done call has run itself is not known: from now on.) */
static void call_stack_drop_below(struct thread_profile *m, uint32_t wanted, uint64_t stack,
                                  stack_t other, bool half_done)
{
    struct call_change change = call_stack_change_begin(m, call_stack_top(m));
    uint64_t now = thread_profile_ticks(m),
             ran = call_stack_cpu_time(m, wanted, call_stack_top(m), &now);
    for (;;) {
        const struct profile_region_frame *f = call_stack_top(m);
        bool here = excluded_function_is_on_stack(&other, f->stack) ==
                    excluded_function_is_on_stack(&other, stack);
        if (f->stack == OUTERMOST ||
            (here ? f->stack >= stack : excluded_function_is_on_stack(&other, stack)))
            break;
        if (call_stack_depth(m) > REGION_FRAMES)
            fast_path_set_depth(m->head, REGION_FRAMES);
        call_stack_pop(m, call_stack_top(m), call_stack_depth(m), now, ran, true, change);
        if (half_done)
            call_stack_top(m)->ran = ran;
    }
    call_stack_change_end(m, change);
}

#define SETTLED_AT_ONCE 8u /* contexts, for each jump */

/* Settles a few contexts at once, many only now and then, and at the end. */
static void settle_in_turn(struct thread_profile *m)
{
    uint32_t count = atomic_load_explicit(&m->head->contexts, memory_order_relaxed);
    if (++m->jumps >= count / SETTLED_AT_ONCE)
        frames_settle(m);
}

/* A signal handler may run on an alternate stack, where addresses cannot be compared. */
static void call_stack_leave_below(struct thread_profile *m, uint32_t wanted, uint64_t stack)
{
    stack_t other = excluded_function_signal_stack();
    const struct profile_region_frame *innermost = call_stack_top(m);
    bool half_done = call_stack_is_left(m->changing_stack, stack, &other);
    if (call_stack_is_left(m->reading_stack, stack, &other))
        m->reading_stack = 0, m->updating = false;
    call_stack_drop_below(m, wanted, stack, other, half_done);
    if (half_done)
        call_stack_repair_counts(m, innermost);
}

static __attribute__((noinline)) void call_stack_leave_dead(struct thread_profile *m,
                                                            uint32_t wanted, uint64_t stack)
{
    call_stack_leave_below(m, wanted, stack - CALL_STACK_SLACK);
}

void call_stack_cut(struct thread_profile *m, uint32_t wanted, uint64_t stack)
{
    look_for_child(m);
    if (m->sampling)
        return;
    if (m->ignored && m->ignored_stack < stack && !excluded_function_is_other_stack(m, stack))
        call_stack_end_ignored(m);
    if (call_stack_top(m)->stack < stack || m->changing_stack || m->reading_stack)
        call_stack_leave_below(m, wanted, stack);
    settle_in_turn(m);
}

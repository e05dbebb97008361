/* The calls that a thread is in: a call begins, and ends.  This is done at every call of a program that was compiled
 * for it: the straight way is short, all else is elsewhere.
 *
 * A frame is reserved before it is filled, so that a signal handler in between puts its own calls above it.  Of those
 * that are not open `began` is 0: calls that are counted only leave it so. */
#define _GNU_SOURCE
#include "clients/trace/measure/frames.h"

#include "clients/trace/measure/did.h"
#include "clients/trace/measure/every.h"
#include "clients/trace/measure/leftout.h"
#include "clients/trace/measure/region.h"
#include "clients/trace/measure/straight.h"
#include "clients/trace/measure/throttle.h"
#include "clients/trace/measure/vforked.h"

#include <string.h>

/* What a handler in between has measured already is not measured twice. */
static inline uint64_t passed(uint64_t from, uint64_t to)
{
    return (int64_t)(to - from) > 0 ? to - from : 0;
}

/* Ticks that the thread has run, by its last look.  A look takes a while: what it says, and all else, is then true of
 * that moment, *now. */
static inline uint64_t ran_by(struct measured *m, uint32_t wanted,
                              const struct region_frame *innermost, uint64_t *now)
{
    if (wanted & WANTED_CPU && !LIKELY(passed(m->last, *now) <= m->gap) && gap_look(m, innermost))
        *now = m->last;
    else
        m->last = *now;
    return *now - m->off;
}

static inline void spread(_Atomic uint64_t *least, _Atomic uint64_t *most, uint64_t value)
{
    if (!LIKELY(value >= sum_of(least)))
        sum_set(least, value);
    if (!LIKELY(value <= sum_of(most)))
        sum_set(most, value);
}

/* ---- half done ---- */

/* While a timed call begins or ends: where its frame is, so that a jump out of a handler that came
 * in between is known to have left that half done (mend). */
static inline uint64_t change_begin(struct measured *m, const struct region_frame *f)
{
    uint64_t outer = m->changing;
    m->changing = f->stack;
    atomic_signal_fence(memory_order_seq_cst);
    return outer;
}

static inline void change_end(struct measured *m, uint64_t outer)
{
    atomic_signal_fence(memory_order_seq_cst);
    m->changing = outer;
}

/* ---- a call begins ---- */

/* Short ways have no calls but last ones, so that nothing need be kept for them: not within the gap. */
static inline bool within_gap(const struct measured *m, uint32_t wanted, uint64_t now)
{
    return !(wanted & WANTED_CPU) || passed(m->last, now) <= m->gap;
}

/* What is done at the begin of timed calls where it is wanted.  (What it is given lies where time_begin has it.) */
static __attribute__((noinline)) void begin_besides(struct measured *m, uint32_t wanted,
                                                    uint64_t now, const struct region_frame *f,
                                                    uint32_t context)
{
    if (wanted & WANTED_EVERY)
        every_begin(m, f, context, now);
    if (wanted & WANTED_THROTTLE)
        throttle_look(m, context);
}

/* Where that is left half done, a time may be lost; none counts twice. */
static inline void go_in(struct measured *m, uint32_t wanted, struct region_frame *up,
                         struct region_frame *f, uint32_t context, uint64_t now, uint64_t ran,
                         uint64_t outer)
{
    uint64_t own = passed(up->ran, ran);
    up->ran = ran;
    atomic_signal_fence(memory_order_seq_cst);
    sum_set(&up->own, sum_of(&up->own) + own);
    f->ran = ran;
    sum_set(&f->own, 0);
    sum_set(&f->began, now);
    did_go(m, now, 2 * context);
    change_end(m, outer);
    if (!LIKELY(!(wanted & (WANTED_EVERY | WANTED_THROTTLE))))
        begin_besides(m, wanted, now, f, context);
}

static __attribute__((noinline)) void time_begin_otherwise(struct measured *m, uint32_t wanted,
                                                           struct region_frame *up,
                                                           struct region_frame *f, uint32_t context,
                                                           uint64_t outer)
{
    uint64_t now = measured_ticks(m), ran = ran_by(m, wanted, up, &now);
    if (!sum_of(&up->began)) {
        bool outermost =
            up->stack == OUTERMOST; /* its time begins now; of others it is not known */
        sum_set(&up->began, outermost ? now : 0);
        up->ran = ran;
    }
    go_in(m, wanted, up, f, context, now, ran, outer);
}

static __attribute__((noinline)) void time_begin(struct measured *m, uint32_t wanted,
                                                 struct region_frame *up, struct region_frame *f,
                                                 uint32_t context)
{
    uint64_t outer = change_begin(m, f);
    contexts_of(m)[contexts_of(m)[context].first].open++;
    if (LIKELY(clock_is_ticks() && sum_of(&up->began))) {
        uint64_t now = CLOCK_TICKS();
        if (LIKELY(within_gap(m, wanted, now))) {
            m->last = now;
            go_in(m, wanted, up, f, context, now, now - m->off, outer);
            return;
        }
    }
    time_begin_otherwise(m, wanted, up, f, context, outer);
}

static uint32_t count_call(struct measured *m, const struct region_frame *up, uint64_t function,
                           uint64_t site, uint32_t scope)
{
    uint32_t c = context_of(m, up->lands, function, site, scope);
    count_in(&contexts_of(m)[c]);
    return c;
}

/* Too many are open: the call is counted, its time is its caller's. */
static __attribute__((noinline)) void enter_deep(struct measured *m, uint64_t function,
                                                 uint64_t site, uint32_t scope)
{
    uint32_t c = count_call(m, frames_top(m), function, site, scope);
    sum_add(&contexts_of(m)[c].ended, 1); /* as far as is known of it */
    sum_add(&m->head->deep, 1);
    set_depth(m->head, frames_depth(m) + 1);
}

static void leave_dead(struct measured *m, uint32_t wanted, uint64_t stack);

static inline void look_for_child(struct measured *m)
{
    if (!LIKELY(!m->vforked_leaves))
        frames_rejoin(m);
}

static inline __attribute__((always_inline)) void push(struct measured *m, uint32_t wanted,
                                                       uint32_t depth, uint32_t c,
                                                       uint64_t function, uint64_t stack)
{
    struct region_frame *f = &frames_of(m)[depth];
    straight_push(m->head, f, depth, &contexts_of(m)[c], c, function, stack);
    if (wanted & (WANTED_REAL | WANTED_CPU))
        time_begin(m, wanted, f - 1, f, c);
}

static __attribute__((noinline)) void enter_otherwise(struct measured *m, uint32_t wanted,
                                                      uint64_t function, uint64_t site,
                                                      uint32_t scope, uint64_t stack)
{
    look_for_child(m);
    if (m->ignored && leftout_within(m, stack)) {
        m->ignored_open += scope == SCOPE_FUNCTION && function == m->ignored;
        return;
    }
    if (frames_top(m)->stack < stack - FRAMES_SLACK)
        leave_dead(m, wanted, stack);
    if (scope == SCOPE_FUNCTION && leftout_is(m, function, site, stack))
        return;
    uint32_t depth = frames_depth(m);
    if (depth >= REGION_FRAMES)
        enter_deep(m, function, site, scope);
    else
        push(m, wanted, depth, count_call(m, frames_top(m), function, site, scope), function,
             stack);
}

/* What is not on the straight way is called last, so that nothing need be kept for it. */
void frames_enter(struct measured *m, uint32_t wanted, uint64_t function, uint64_t site,
                  uint32_t scope, uint64_t stack)
{
    uint32_t depth = frames_depth(m);
    const struct region_frame *up = &frames_of(m)[depth - 1];
    if (LIKELY(depth < m->room && stack - FRAMES_SLACK <= up->stack)) {
        uint32_t c =
            atomic_load_explicit(context_known(m, up->lands, function, site), memory_order_relaxed);
        struct region_context *to = &contexts_of(m)[c];
        if (LIKELY(context_is(to, up->lands, function, site))) {
            count_in(to);
            push(m, wanted, depth, c, function, stack);
            return;
        }
    }
    enter_otherwise(m, wanted, function, site, scope, stack);
}

void frames_go_on(struct measured *m, uint32_t wanted, uint32_t context, uint64_t function,
                  uint64_t stack)
{
    if (frames_depth(m) < REGION_FRAMES)
        push(m, wanted, frames_depth(m), context, function, stack);
}

bool frames_base_enter(struct measured *m, uint32_t wanted)
{
    bool room = frames_depth(m) < REGION_FRAMES;
    frames_go_on(m, wanted, 0, 0, OUTERMOST);
    return room;
}

/* ---- a call ends ---- */

/* It has ended from the first store on, so that no time counts twice where that is left half done. */
static inline __attribute__((always_inline)) void time_end(struct measured *m,
                                                           struct region_frame *f,
                                                           struct region_context *of, uint64_t now,
                                                           uint64_t ran, bool every)
{
    uint64_t own = sum_of(&f->own) + passed(f->ran, ran), real = passed(sum_of(&f->began), now),
             outer = change_begin(m, f);
    sum_set(&f->began, 0);
    if (LIKELY(f != frames_of(m)))
        f[-1].ran = ran;
    atomic_signal_fence(memory_order_seq_cst);
    if (every && m->every)
        every_end(m, f, atomic_load_explicit(&f->context, memory_order_relaxed), now);
    /* First the real time: where a jump leaves that half done, own is not more. */
    if (LIKELY(contexts_of(m)[of->first].open-- == 1))
        sum_add(&of->real, real); /* else it is part of the outer call's */
    spread(&of->real_least, &of->real_most, real);
    atomic_signal_fence(memory_order_seq_cst);
    sum_add(&of->own, own);
    spread(&of->own_least, &of->own_most, own);
    did_go(m, now, 2 * (uint32_t)(of - contexts_of(m)) + 1);
    change_end(m, outer);
}

/* every: it may be that each call is written down. */
static inline __attribute__((always_inline)) void leave(struct measured *m, struct region_frame *f,
                                                        uint32_t depth, uint64_t now, uint64_t ran,
                                                        bool every)
{
    struct region_context *of =
        &contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)];
    if (sum_of(&f->began))
        time_end(m, f, of, now, ran, every);
    sum_add(&of->ended, 1);
    set_depth(m->head, depth - 1);
}

void frames_drop(struct measured *m, uint64_t now, uint64_t ran)
{
    leave(m, frames_top(m), frames_depth(m), now, ran, true);
}

void frames_leave_child(struct measured *m)
{
    uint64_t now = m->last, ran = now - m->off;
    if (frames_depth(m) > REGION_FRAMES)
        set_depth(m->head, REGION_FRAMES);
    while (frames_depth(m) > m->vforked_depth && frames_top(m)->stack != OUTERMOST)
        frames_drop(m, now, ran);
    m->vforked = 0;
}

void frames_rejoin(struct measured *m)
{
    if (!m->vforked_leaves || getpid() != m->process)
        return;
    frames_leave_child(m);
    vforked_stays(m);
}

uint64_t frames_now(struct measured *m, const struct queue_head *queue, uint64_t *ran)
{
    uint64_t now = measured_ticks(m);
    *ran =
        ran_by(m, atomic_load_explicit(&queue->wanted, memory_order_relaxed), frames_top(m), &now);
    return now;
}

void frames_pause(struct measured *m, uint64_t now, uint64_t ran)
{
    struct region_frame *f = frames_top(m);
    m->paused = true;
    if (sum_of(&f->began))
        time_end(m, f, &contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)],
                 now, ran, true);
    set_depth(m->head, (uint32_t)(f - frames_of(m)));
}

void frames_base_leave(struct measured *m, uint64_t ran)
{
    struct region_frame *f = frames_top(m);
    if (f == frames_of(m))
        return; /* the thread itself */
    if (sum_of(&f->began)) {
        uint64_t own = sum_of(&f->own) + passed(f->ran, ran);
        sum_set(&f->began, 0);
        f[-1].ran = ran;
        atomic_signal_fence(memory_order_seq_cst);
        sum_add(&contexts_of(m)[0].own, own);
        contexts_of(m)[0].open--;
    }
    set_depth(m->head, (uint32_t)(f - frames_of(m)));
    if (m->stepping) /* it goes on where it was, after whatever it called there */
        did_go(m, m->since,
               2 * atomic_load_explicit(&frames_top(m)->context, memory_order_relaxed));
}

/* Since a call ended without its end being seen. */
static struct region_frame *cut_above(struct measured *m, uint32_t wanted, struct region_frame *f)
{
    if (frames_top(m) <= f)
        return f;
    uint64_t now = measured_ticks(m), ran = ran_by(m, wanted, frames_top(m), &now);
    while (frames_top(m) > f)
        frames_drop(m, now, ran);
    return f;
}

/* Above it lie calls that the parent of this process began; 0: there is none that forked. */
static __thread uint64_t forked_at __attribute__((tls_model("initial-exec")));

void frames_forked(uint64_t stack) { forked_at = stack; }

/* The end of a call that is not the innermost one: what was called in it has ended, too, as after an exception
 * through code that has no such ends.  NULL: it was not open. */
static __attribute__((noinline)) struct region_frame *
find_ended(struct measured *m, uint32_t wanted, uint64_t function, uint64_t stack)
{
    uint32_t depth = frames_depth(m);
    if (depth > REGION_FRAMES) {
        set_depth(m->head, depth - 1);
        return NULL;
    }
    struct region_frame *f = frames_top(m);
    while (f->stack != OUTERMOST && f->function != function && f->stack <= stack)
        f--;
    if (f->stack != OUTERMOST && f->function == function)
        return cut_above(m, wanted, f);
    bool parents = forked_at && stack > forked_at;
    if (wanted & WANTED_CALLS && !parents) /* else it began unseen */
        sum_add(&m->head->mismatched, 1);
    return NULL;
}

static __attribute__((noinline)) void exit_timed_otherwise(struct measured *m, uint32_t wanted,
                                                           struct region_frame *f, uint32_t depth)
{
    uint64_t now = measured_ticks_after(m), ran = ran_by(m, wanted, f, &now);
    leave(m, f, depth, now, ran, true);
}

static __attribute__((noinline)) void exit_timed(struct measured *m, uint32_t wanted,
                                                 struct region_frame *f, uint32_t depth)
{
    if (LIKELY(clock_is_ticks() && !m->every)) {
        uint64_t now = clock_ticks_after();
        if (LIKELY(within_gap(m, wanted, now))) {
            m->last = now;
            leave(m, f, depth, now, now - m->off, false);
            return;
        }
    }
    exit_timed_otherwise(m, wanted, f, depth);
}

/* An ignored call may have ended unseen, by a jump. */
static bool ends_within_ignored(struct measured *m, uint64_t function, uint64_t stack)
{
    if (!leftout_within(m, stack))
        return false;
    if (function == m->ignored && --m->ignored_open == 0)
        frames_heed(m);
    return true;
}

static __attribute__((noinline)) void exit_otherwise(struct measured *m, uint32_t wanted,
                                                     uint64_t function, uint64_t stack)
{
    look_for_child(m);
    if (m->ignored && ends_within_ignored(m, function, stack))
        return;
    if (function > UINT16_MAX && leftout_pick(m, function) != PICK_MEASURED)
        return; /* it has no frame */
    struct region_frame *f = find_ended(m, wanted, function, stack);
    if (f)
        exit_timed(m, wanted, f, frames_depth(m));
}

/* (By itself, so that the straight way keeps nothing for its calls.) */
static __attribute__((noinline)) void step_out(struct measured *m, uint32_t context)
{
    did_go(m, measured_ticks(m), 2 * context + 1);
}

void frames_exit(struct measured *m, uint32_t wanted, uint64_t function, uint64_t stack)
{
    uint32_t depth = frames_depth(m);
    struct region_frame *f = &frames_of(m)[depth - 1];
    if (!LIKELY(depth <= m->room && f->function == function)) {
        exit_otherwise(m, wanted, function, stack);
    } else if (sum_of(&f->began)) {
        exit_timed(m, wanted, f, depth);
    } else {
        uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
        sum_add(&contexts_of(m)[c].ended, 1);
        set_depth(m->head, depth - 1);
        if (!LIKELY(!m->stepping))
            step_out(m, c);
    }
}

void frames_exit_scope(struct measured *m, uint32_t wanted, uint32_t scope)
{
    look_for_child(m);
    struct region_frame *f = frames_top(m);
    if (m->ignored)
        return;
    while (f->stack != OUTERMOST &&
           contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)].scope != scope)
        f--;
    if (f->stack == OUTERMOST || frames_depth(m) > REGION_FRAMES) {
        sum_add(&m->head->mismatched, 1);
        return;
    }
    frames_exit(m, wanted, f->function, cut_above(m, wanted, f)->stack);
}

/* ---- calls that have ended unseen ---- */

static uint32_t first_in(const struct measured *m, const struct region_frame *f)
{
    return contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)].first;
}

/* How many timed frames a function has. */
static uint32_t count_open(const struct measured *m, uint32_t first)
{
    uint32_t open = 0;
    for (const struct region_frame *f = frames_of(m); f <= frames_top(m); f++)
        open += first_in(m, f) == first && (sum_of(&f->began) || f == frames_of(m));
    return open;
}

/* What frames up to the one that was the innermost counted, half done, in the functions that they were of. */
static void mend(struct measured *m, const struct region_frame *innermost)
{
    m->changing = 0;
    for (const struct region_frame *f = frames_top(m) + 1; f <= innermost; f++)
        contexts_of(m)[first_in(m, f)].open = count_open(m, first_in(m, f));
}

/* What began or ended when a handler came in between goes on no more: the jump is to further up. */
static bool is_left(uint64_t half_done, uint64_t stack, const stack_t *other)
{
    return half_done && (leftout_on(other, half_done) == leftout_on(other, stack)
                             ? half_done < stack
                             : !leftout_on(other, stack));
}

/* (Since when the caller of one that is half done has run itself is not known: from now on.) */
static void drop_below(struct measured *m, uint32_t wanted, uint64_t stack, stack_t other,
                       bool half_done)
{
    uint64_t now = measured_ticks(m), ran = ran_by(m, wanted, frames_top(m), &now);
    for (;;) {
        const struct region_frame *f = frames_top(m);
        bool here = leftout_on(&other, f->stack) == leftout_on(&other, stack);
        if (f->stack == OUTERMOST || (here ? f->stack >= stack : leftout_on(&other, stack)))
            return;
        if (frames_depth(m) > REGION_FRAMES)
            set_depth(m->head, REGION_FRAMES);
        frames_drop(m, now, ran);
        if (half_done)
            frames_top(m)->ran = ran;
    }
}

#define SETTLED_AT_ONCE 8u /* contexts, for each jump */

/* A call is counted before its frame is reserved, and its end before its frame is given up: a
 * jump out of a handler in between leaves a call that never ends, or one that ends twice.  Where
 * no calls have paused, those that have no frame have ended. */
void frames_settle(struct measured *m)
{
    uint32_t count = atomic_load_explicit(&m->head->contexts, memory_order_relaxed);
    m->jumps = 0;
    if (m->paused || sum_of(&m->head->deep))
        return;
    for (struct region_context *c = contexts_of(m) + 1; c < contexts_of(m) + count; c++)
        if (c->scope != SCOPE_COUNTED)
            sum_set(&c->ended, sum_of(&c->calls));
    for (const struct region_frame *f = frames_of(m) + 1; f <= frames_top(m); f++) {
        uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
        if (c)
            sum_add(&contexts_of(m)[c].ended, UINT64_MAX);
    }
}

/* Few contexts are settled at once, many only now and then, and at the end. */
static void settle_in_turn(struct measured *m)
{
    uint32_t count = atomic_load_explicit(&m->head->contexts, memory_order_relaxed);
    if (++m->jumps >= count / SETTLED_AT_ONCE)
        frames_settle(m);
}

/* A signal handler may run on a stack of its own: what lies above it there says nothing. */
static void leave_below(struct measured *m, uint32_t wanted, uint64_t stack)
{
    stack_t other = leftout_stack();
    const struct region_frame *innermost = frames_top(m);
    bool half_done = is_left(m->changing, stack, &other);
    if (is_left(m->looking, stack, &other))
        m->looking = 0;
    drop_below(m, wanted, stack, other, half_done);
    if (half_done)
        mend(m, innermost);
}

static __attribute__((noinline)) void leave_dead(struct measured *m, uint32_t wanted, uint64_t stack)
{
    leave_below(m, wanted, stack - FRAMES_SLACK);
}

void frames_cut(struct measured *m, uint32_t wanted, uint64_t stack)
{
    look_for_child(m);
    if (m->ignored && m->ignored_stack < stack && !leftout_elsewhere(m, stack))
        frames_heed(m);
    if (frames_top(m)->stack < stack || m->changing || m->looking)
        leave_below(m, wanted, stack);
    settle_in_turn(m);
}

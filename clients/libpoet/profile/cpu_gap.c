/* Off-CPU time of a thread, from its CPU clock, which is read after gaps only. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "clients/libpoet/profile/call_stack.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/profile/vforked.h"

#include <time.h>
#include <unistd.h>

/* Maximum number of gaps that may have been missed; more off-CPU time is from before the clock was
 * wanted. */
#define UNSEEN_GAPS 64u
#define HELD_UP_NS 5000u /* between readings of two clocks: then they do not belong together */
#define TRIES 3

struct cpu_gap_sample {
    uint64_t ticks, ns, cpu;
};

static uint64_t cpu_gap_cpu_now(void) { return clock_read_ns(CLOCK_THREAD_CPUTIME_ID); }

static struct cpu_gap_sample cpu_gap_read_clocks(const struct thread_profile *m)
{
    struct cpu_gap_sample look;
    for (int i = 0; i < TRIES; i++) {
        look.cpu = cpu_gap_cpu_now();
        look.ns = tracer_clock_now();
        look.ticks = thread_profile_ticks(m);
        if (cpu_gap_cpu_now() - look.cpu < HELD_UP_NS && tracer_clock_now() - look.ns < HELD_UP_NS)
            break;
    }
    return look;
}

static void cpu_gap_set_anchor(struct thread_profile *m, const struct cpu_gap_sample *look)
{
    m->anchor.set = false; /* a handler may leave it half done */
    atomic_signal_fence(memory_order_seq_cst);
    m->anchor.ticks = look->ticks;
    m->anchor.ns = look->ns;
    m->anchor.cpu = look->cpu;
    m->anchor.off = m->off;
    atomic_signal_fence(memory_order_seq_cst);
    m->anchor.set = true;
}

/* Tasks take turns on a thread of the system: the next one takes over what the last one knew of its
 * clock. */
static __thread struct handed {
    uint64_t at; /* ticks */
    uint64_t from_ticks, from_ns, from_cpu, off; /* off: how long it had not run since then */
} handed __attribute__((tls_model("initial-exec")));

void cpu_gap_leave(struct thread_profile *m, uint64_t now)
{
    handed.at = 0;
    if (!m->anchor.set)
        return;
    if ((int64_t)(now - m->last) > (int64_t)m->gap)
        cpu_gap_check(m, call_stack_top(m));
    m->anchor.set = false;
    handed = (struct handed){.at = now > m->last ? now : m->last,
                             .from_ticks = m->anchor.ticks,
                             .from_ns = m->anchor.ns,
                             .from_cpu = m->anchor.cpu,
                             .off = m->off - m->anchor.off};
}

/* Time that passes until the clocks have been read does not count as the task's. */
uint64_t cpu_gap_return(struct thread_profile *m, uint64_t now)
{
    bool takes_over = handed.at && now - handed.at <= m->gap;
    uint64_t since = now;
    if (takes_over) {
        m->anchor.ticks = handed.from_ticks;
        m->anchor.ns = handed.from_ns;
        m->anchor.cpu = handed.from_cpu;
        m->anchor.off = m->off - handed.off; /* may be negative */
        m->anchor.set = true;
    } else if (cpu_gap_check(m, call_stack_top(m))) {
        since = m->last;
    }
    handed.at = 0;
    return since;
}

/* In ticks since the anchor; the length of a tick follows from the two times. */
static uint64_t cpu_gap_off_by(const struct thread_profile *m, const struct cpu_gap_sample *look)
{
    uint64_t ns = look->ns - m->anchor.ns, ran = look->cpu - m->anchor.cpu;
    if (ran >= ns)
        return m->anchor.off;
    double off = (double)(ns - ran) / (double)ns;
    return m->anchor.off + (uint64_t)(off * (double)(look->ticks - m->anchor.ticks));
}

/* From here on its off-CPU time is not known. */
static void cpu_gap_set_blind(struct thread_profile *m)
{
    atomic_store_explicit(&m->head->blind, 1, memory_order_relaxed);
    m->anchor.set = false;
    m->last = thread_profile_ticks(m);
}

/* Attributes this off-CPU time to the innermost call. */
static void cpu_gap_report_off(struct thread_profile *m,
                               const struct profile_region_frame *innermost, uint64_t off)
{
    uint64_t more = off - m->off;
    m->off = off;
    atomic_signal_fence(memory_order_seq_cst);
    sum_add(&frames_timed(m, innermost)->off, more);
    sum_set(&m->head->off_ticks, off);
}

/* Up to the last reading, or the last call, all time has been counted: no more than has passed
 * since then is added now, the rest when there is room for it, so that running and off-CPU time
 * never exceed the elapsed time. */
static void cpu_gap_take_sample(struct thread_profile *m,
                                const struct profile_region_frame *innermost,
                                const struct cpu_gap_sample *look)
{
    uint64_t off = cpu_gap_off_by(m, look), most = m->off;
    if ((int64_t)(look->ticks - m->last) > 0)
        most += look->ticks - m->last;
    bool more = (int64_t)(off - most) > 0;
    if ((int64_t)((more ? most : off) - m->off) > 0)
        cpu_gap_report_off(m, innermost, more ? most : off);
    if (more && off - most > UNSEEN_GAPS * m->gap)
        cpu_gap_set_anchor(m, look);
}

/* A child of vfork runs in its parent's place, with a CPU clock of its own: meanwhile the parent
 * does not run. */
static void cpu_gap_sample_for_parent(struct thread_profile *m,
                                      const struct profile_region_frame *innermost)
{
    uint64_t now = thread_profile_ticks(m);
    vforked_seen(m, innermost);
    if ((int64_t)(now - m->last) > 0)
        cpu_gap_report_off(m, innermost, m->off + (now - m->last));
    m->last = now;
}

/* A handler that interrupts a reading makes its own, which is newer: then that one is repeated. */
static bool cpu_gap_begin_update(struct thread_profile *m, struct cpu_gap_sample *look)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t samples = m->samples;
        atomic_signal_fence(memory_order_seq_cst);
        *look = cpu_gap_read_clocks(m);
        m->updating = true;
        atomic_signal_fence(memory_order_seq_cst);
        if (m->samples == samples)
            return true;
        m->updating = false;
    }
    return false;
}

static bool cpu_gap_update(struct thread_profile *m, const struct profile_region_frame *innermost)
{
    struct cpu_gap_sample look;
    if (!cpu_gap_begin_update(m, &look))
        return false;
    m->samples++;
    if (getpid() != m->process) {
        cpu_gap_sample_for_parent(m, innermost);
    } else {
        m->vforked.process = m->vforked.leaves ? m->vforked.process : 0;
        if (!m->anchor.set)
            cpu_gap_set_anchor(m, &look);
        cpu_gap_take_sample(m, innermost, &look);
        sum_set(&m->head->looked_ticks, look.ticks);
        sum_set(&m->head->looked_cpu_ns, look.cpu);
        m->last = look.ticks;
    }
    atomic_signal_fence(memory_order_seq_cst);
    m->updating = false;
    return true;
}

bool cpu_gap_check(struct thread_profile *m, const struct profile_region_frame *innermost)
{
    if (!seccomp_allows(ALLOWED_CPU)) {
        cpu_gap_set_blind(m);
        return true;
    }
    if (m->updating) /* interrupted by a signal handler */
        return false;
    uint64_t outer = m->reading_stack;
    m->reading_stack = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    atomic_signal_fence(memory_order_seq_cst);
    bool updated = cpu_gap_update(m, innermost);
    atomic_signal_fence(memory_order_seq_cst);
    m->reading_stack = outer;
    return updated;
}

/* (The thread may not have had a CPU between a handler's last call and this.) */
__attribute__((noinline, cold)) uint64_t cpu_gap_now(struct thread_profile *m)
{
    uint64_t now = thread_profile_ticks(m);
    bool gap = m->anchor.set && (int64_t)(now - m->last) > (int64_t)m->gap;
    if (!gap || !cpu_gap_check(m, call_stack_top(m)))
        m->last = now;
    return m->last;
}

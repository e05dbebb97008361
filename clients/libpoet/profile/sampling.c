#define _GNU_SOURCE
#include "clients/libpoet/profile/sampling.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/wait_stack.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/unwind/unwind_rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- its signal ---- */

#define SAMPLING_FIRST_SIGNAL 63 /* the last one is used by other tools, such as valgrind */
#define SAMPLING_LAST_SIGNAL 40
#define SAMPLING_TIMERS 4096u /* threads beyond that are not sampled */

static _Atomic int sampling_signal; /* 0: none yet; -1: no samples are taken any more */
/* 1 + the kernel's number of each timer; 0: free */
static _Atomic uint32_t sampling_timers[SAMPLING_TIMERS];

/* The timer of a thread of the system, and its view of its own signal mask. */
static __thread struct sampling_timer {
    uint32_t place; /* 1 + index in sampling_timers; 0: none */
    uint64_t cpu_ns; /* its CPU clock at the last sample */
    uint64_t shown; /* the bit of the signal, as the program set it */
} sampling_mine __attribute__((tls_model("initial-exec")));

bool sampling_owns(int signal)
{
    return signal > 0 && signal == atomic_load_explicit(&sampling_signal, memory_order_relaxed);
}

uint64_t sampling_mask_bit(void)
{
    int signal = atomic_load_explicit(&sampling_signal, memory_order_relaxed);
    return signal > 0 ? UINT64_C(1) << (signal - 1) : 0;
}

uint64_t sampling_mask_shown(void) { return sampling_mine.shown & sampling_mask_bit(); }

void sampling_mask_show(uint64_t mask) { sampling_mine.shown = mask & sampling_mask_bit(); }

static uint64_t sampling_cpu_ns(void)
{
    struct timespec ts = {0};
    if (!seccomp_allows(ALLOWED_CPU))
        return 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- paths: the contexts of a stack ---- */

#define SAMPLING_DEPTH 512u

/* Names of scopes, at which clients find them (SCOPE_NAMED). */
static const char sampling_recording[] = "(recording by libpoet)";
static const char sampling_unknown[] = "(callers not known)";

/* The contexts of a stack, the outermost first, each function once. */
struct sampling_path {
    uint32_t count;
    uint32_t contexts[SAMPLING_DEPTH + 3];
};

/* What a sampled thread keeps to itself, besides its region. */
struct thread_sampling {
    uint32_t rate; /* samples per second of CPU time that were asked for */
    volatile bool busy; /* a wait is being added: a sample must not come in between */
    uint32_t waits; /* nesting of waits */
    uint32_t waited; /* context of the outermost one; 0: none */
    uint64_t wait_began_ns, wait_cpu_ns; /* when it began, and its CPU clock then */
    uintptr_t sites[SAMPLING_DEPTH];
    struct sampling_path sample, wait;
};

static void sampling_path_add(struct thread_profile *m, struct sampling_path *path, uint32_t c)
{
    struct profile_region_context *all = contexts_of(m);
    /* a recursive call: its function has the time already */
    if (all[all[c].first].open++ == 0)
        path->contexts[path->count++] = c;
}

static uint32_t sampling_path_append(struct thread_profile *m, struct sampling_path *path,
                                     uint32_t parent, uint64_t function, uint64_t site,
                                     uint32_t scope)
{
    uint32_t c = context_tree_find_cached(m, parent, function, site, scope);
    sampling_path_add(m, path, c);
    return contexts_of(m)[c].lands;
}

static uint64_t sampling_function(uintptr_t site)
{
    uintptr_t begin = unwind_function_begin(site);
    return begin ? begin : site;
}

/* Finds the contexts of a stack. Returns the one in which the calls of its innermost function are
 * counted; 0: the thread itself. */
static uint32_t sampling_path_find(struct thread_profile *m, struct sampling_path *path,
                                   const struct call_stack_sites *stack)
{
    uint32_t at = 0;
    path->count = 0;
    if (stack->end != STACK_WHOLE) {
        at = sampling_path_append(m, path, 0, (uintptr_t)sampling_unknown, 0, SCOPE_NAMED);
        sum_add(&m->head->deep, 1);
    }
    for (uint32_t i = stack->count; i-- > 0;)
        at = sampling_path_append(m, path, at, sampling_function(stack->sites[i]),
                                  i + 1 < stack->count ? stack->sites[i + 1] + 1 : 0,
                                  SCOPE_FUNCTION);
    return at;
}

/* (Marks of functions are needed only while a path is being found.) */
static void sampling_path_unmark(const struct thread_profile *m, const struct sampling_path *path)
{
    struct profile_region_context *all = contexts_of(m);
    for (uint32_t i = 0; i < path->count; i++)
        all[all[path->contexts[i]].first].open = 0;
}

static void sampling_path_count(const struct thread_profile *m, const struct sampling_path *path,
                                uint64_t samples, uint64_t ns)
{
    for (uint32_t i = 0; i < path->count; i++) {
        struct profile_region_context *c = &contexts_of(m)[path->contexts[i]];
        sum_add(&c->calls, samples);
        sum_add(&c->real, ns);
    }
}

/* ---- samples ---- */

static void sampling_count_self(struct profile_region_context *c, uint64_t ns)
{
    sum_add(&c->concurrent, 1);
    sum_add(&c->own, ns);
}

static void sampling_add(struct thread_profile *m, const void *interrupted, uint64_t ns)
{
    struct thread_sampling *s = m->sampling;
    struct call_stack_sites stack = {.sites = s->sites, .most = SAMPLING_DEPTH};
    wait_stack_collect_interrupted(interrupted, &stack);
    uint32_t at = sampling_path_find(m, &s->sample, &stack);
    if (stack.in_libpoet)
        at = sampling_path_append(m, &s->sample, at, (uintptr_t)sampling_recording, 0, SCOPE_NAMED);
    else if (at)
        at = context_tree_find_cached(m, at, stack.count ? stack.sites[0] : 0, 1, SCOPE_POINT);
    sampling_path_unmark(m, &s->sample);
    sampling_path_count(m, &s->sample, 1, ns);
    sampling_count_self(&contexts_of(m)[at], ns);
}

/* The signal came from elsewhere: it does what it would have done. */
static void sampling_pass_on(int signal)
{
    real_functions.sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

static void sampling_handle(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    const struct traced_thread *t = thread_base;
    struct thread_profile *m = t ? t->profile : NULL;
    if (info->si_code != SI_TIMER || info->si_ptr != &sampling_signal) {
        sampling_pass_on(signal);
    } else if (m && m->sampling && !m->sampling->busy && sampling_mine.place) {
        uint64_t now_ns = sampling_cpu_ns(), period_ns = 1000000000u / m->sampling->rate,
                 ns = now_ns - sampling_mine.cpu_ns;
        sampling_mine.cpu_ns = now_ns;
        sampling_add(m, context, now_ns ? ns : period_ns * (1 + (unsigned)info->si_overrun));
    }
    errno = saved;
}

/* ---- timers ---- */

/* Whether CPU timers send their signals outside of system calls only. */
static bool sampling_kernel_is_fit(void)
{
    struct utsname name;
    unsigned major = 0, minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 10));
}

/* Installs the handler for a signal that has none, and is neither blocked nor ignored. */
static int sampling_take_signal(void)
{
    struct sigaction is, handler = {.sa_sigaction = sampling_handle,
                                    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int signal = SAMPLING_FIRST_SIGNAL; signal >= SAMPLING_LAST_SIGNAL; signal--)
        if (real_functions.sigaction(signal, NULL, &is) == 0 && is.sa_handler == SIG_DFL &&
            !sigismember(&blocked, signal) && real_functions.sigaction(signal, &handler, NULL) == 0)
            return signal;
    return -1;
}

/* Returns the signal; -1: nothing is sampled. Several threads may call it at the same time. */
static int sampling_find_signal(void)
{
    static latch finding;
    int signal = atomic_load(&sampling_signal);
    if (signal)
        return signal;
    latch_lock(&finding);
    signal = atomic_load(&sampling_signal);
    if (!signal) {
        bool fit = sampling_kernel_is_fit();
        signal = fit ? sampling_take_signal() : -1;
        if (signal < 0)
            stderr_log_print_once(
                "samples: %s; nothing is sampled",
                fit ? "all signals are in use"
                    : "before Linux 5.10 a timer could interrupt system calls of the program");
        atomic_store(&sampling_signal, signal);
    }
    latch_unlock(&finding);
    return signal;
}

static bool sampling_start_timer(uint32_t rate)
{
    int signal = sampling_find_signal(), timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = signal,
                             .sigev_value.sival_ptr = &sampling_signal};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    long period_ns = 1000000000L / (long)rate;
    struct timespec period = {period_ns / 1000000000L, period_ns % 1000000000L};
    uint32_t place = 0, none = 0;
    if (signal < 0 || syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return false;
    while (place < SAMPLING_TIMERS &&
           !atomic_compare_exchange_strong(&sampling_timers[place], &none, (uint32_t)timer + 1))
        none = 0, place++;
    /* (it may have been stopped meanwhile) */
    if (place == SAMPLING_TIMERS || !sampling_owns(signal)) {
        syscall(SYS_timer_delete, timer);
        return false;
    }
    sampling_mine.place = place + 1;
    sampling_mine.cpu_ns = sampling_cpu_ns();
    syscall(SYS_timer_settime, timer, 0, &(struct itimerspec){period, period}, NULL);
    return true;
}

static void sampling_delete_timer(uint32_t place)
{
    uint32_t timer = atomic_exchange(&sampling_timers[place], 0);
    if (timer && seccomp_allows(ALLOWED_SAMPLES))
        syscall(SYS_timer_delete, (int)timer - 1);
}

void sampling_stop(void)
{
    int saved = errno, signal = atomic_exchange(&sampling_signal, -1);
    if (signal > 0) /* those that are under way are dropped */
        real_functions.sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    for (uint32_t i = 0; signal > 0 && i < SAMPLING_TIMERS; i++)
        sampling_delete_timer(i);
    if (signal > 0)
        real_functions.sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    errno = saved;
}

/* ---- threads ---- */

void sampling_begin(struct traced_thread *t)
{
    int saved = errno;
    uint32_t rate = t && t->queue && t == thread_base
                        ? WANTED_RATE(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed))
                        : 0;
    if (LIKELY(!rate) || t->profile || !seccomp_allows(ALLOWED_SAMPLES))
        return;
    struct thread_sampling *s = t->sampling_kept ? t->sampling_kept : tracer_arena_alloc(sizeof *s);
    t->sampling_kept = s;
    if (!s)
        return;
    s->rate = rate;
    s->busy = false;
    s->waits = s->waited = 0;
    if (region_create_sampled(t, s) && !sampling_start_timer(rate))
        t->profile->sampling->busy = true; /* (waits are still added) */
    errno = saved;
}

/* What it has run since the last sample is in none: the thread's own. */
void sampling_end(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (!sampling_mine.place || t != thread_base)
        return;
    uint64_t now_ns = sampling_cpu_ns();
    sampling_delete_timer(sampling_mine.place - 1);
    sampling_mine.place = 0;
    if (m && m->sampling && now_ns > sampling_mine.cpu_ns)
        sum_add(&contexts_of(m)[0].own, now_ns - sampling_mine.cpu_ns);
}

void sampling_forked(void)
{
    memset(sampling_timers, 0, sizeof sampling_timers);
    sampling_mine.place = 0;
}

/* ---- waits ---- */

void sampling_wait_begin(struct traced_thread *t, uint32_t type, uintptr_t site)
{
    struct thread_profile *m = t->profile;
    struct thread_sampling *s = m ? m->sampling : NULL;
    if (LIKELY(!s) || s->waits++)
        return;
    bool busy = s->busy;
    s->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    struct call_stack_sites stack = {.sites = s->sites, .most = SAMPLING_DEPTH};
    s->wait.count = 0;
    uint32_t at = wait_stack_collect(site, &stack) ? sampling_path_find(m, &s->wait, &stack) : 0;
    s->waited = context_tree_find_cached(m, at, type, site ? site + 1 : 0, SCOPE_WAITED);
    sampling_path_unmark(m, &s->wait);
    s->wait_cpu_ns = sampling_cpu_ns();
    s->wait_began_ns = tracer_clock_now();
    atomic_signal_fence(memory_order_seq_cst);
    s->busy = busy;
}

void sampling_wait_end(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    struct thread_sampling *s = m ? m->sampling : NULL;
    if (LIKELY(!s) || !s->waits || --s->waits)
        return;
    /* (its CPU time is that of samples) */
    uint64_t all_ns = tracer_clock_now() - s->wait_began_ns,
             cpu_ns = sampling_cpu_ns() - s->wait_cpu_ns,
             ns = all_ns > cpu_ns ? all_ns - cpu_ns : 0;
    struct profile_region_context *c = &contexts_of(m)[s->waited];
    sampling_path_count(m, &s->wait, 0, ns);
    sum_add(&c->calls, 1);
    sum_add(&c->ended, 1);
    sum_add(&c->real, ns);
    sum_add(&c->off, ns);
    if (ns < sum_of(&c->real_least))
        sum_set(&c->real_least, ns);
    if (ns > sum_of(&c->real_most))
        sum_set(&c->real_most, ns);
}

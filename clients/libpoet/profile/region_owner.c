/* The measurement region of a thread, created by the thread itself when its calls are first wanted:
 * sealed memory, which is handed to the server like a queue. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/region_owner.h"

#include "clients/libpoet/core/heap_channel.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/calibration.h"
#include "clients/libpoet/profile/activity.h"
#include "clients/libpoet/profile/block_counts.h"
#include "clients/libpoet/profile/call_log.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/library_slots.h"
#include "wire/program_messages.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint32_t serials;

#define LATER 4096u /* calls until the next attempt if the server did not take it */
#define NEVER UINT32_MAX

/* Not by memset, which ThreadSanitizer checks: it does not know that a thread which ended handed
 * this over. */
static void region_clear(struct thread_profile *m)
{
    volatile uint64_t *words = (void *)m;
    static_assert(sizeof *m % sizeof *words == 0, "it is whole words");
    for (size_t i = 0; i < sizeof *m / sizeof *words; i++)
        words[i] = 0;
}

static struct thread_profile *region_init(struct traced_thread *t, void *memory)
{
    struct thread_profile *m = t->profile_kept;
    if (m->head) /* used before; otherwise it is zero, and most of it need not be touched */
        region_clear(m);
    m->head = memory;
    m->process = getpid();
    m->clock = t->queue->clock;
    m->gap = GAP_NS;
    m->room = REGION_FRAMES;
    m->next = 1;
    m->serial = atomic_fetch_add(&serials, 1) + 1;
    m->sampling = NULL;
    return m;
}

static uint64_t region_ticks(const struct thread_profile *m)
{
    return m->sampling ? tracer_clock_now() : thread_profile_ticks(m);
}

/* Fills in what the server may read from the beginning on. */
static void region_open_thread(struct thread_profile *m, const struct traced_thread *t,
                               uint32_t rate)
{
    struct profile_region_context *own = &contexts_of(m)[0];
    *m->head = (struct profile_region_head){.magic = REGION_MAGIC,
                                            .version = REGION_VERSION,
                                            .thread = trace_line_index(t->own),
                                            .clock = m->clock,
                                            .contexts = 1,
                                            .depth = 1,
                                            .began = region_ticks(m),
                                            .sampled = rate};
    *own = (struct profile_region_context){
        .open = 1, .calls = 1, .real_least = UINT64_MAX, .own_least = UINT64_MAX};
    frames_of(m)[0] = (struct profile_region_frame){.stack = OUTERMOST};
}

static bool region_send(int fd, const struct traced_thread *t)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 4];
    struct encoder out = {.data = message, .room = sizeof message};
    encoder_begin_message(&out, MESSAGE_REGION);
    encode_region(&out, &(struct region_message){trace_line_index(t->own)});
    encoder_end_message(&out);
    return server_send_with(&out, fd, t->life);
}

/* The calls until then are not measured; the server learns that with the thread's next event. */
static bool region_refuse(struct traced_thread *t, uint32_t retry)
{
    t->profile_retry = retry;
    if (!message_queue_untraced_is_reported(UNTRACED_CALLS, t))
        __atomic_fetch_or(&t->unreported, (uint16_t)UNTRACED_BIT(UNTRACED_CALLS), __ATOMIC_RELAXED);
    return false;
}

/* Calls are measured from now on, once it is known what that costs. */
static void region_calibrate(struct traced_thread *t, struct thread_profile *m)
{
    activity_begin(m); /* its cost is measured, too */
    calibration_run(t, m);
    activity_end(m);
    region_init(t, m->head);
    activity_begin(m);
    region_open_thread(m, t, 0);
    calibration_apply(m);
}

/* Calls are not measured: the hooks find no room. */
static void region_open_sampled(struct traced_thread *t, struct thread_profile *m,
                                struct thread_sampling *sampling)
{
    m->sampling = sampling;
    m->clock = QUEUE_CLOCK_NS;
    m->room = 0;
    region_open_thread(m, t, WANTED_RATE(atomic_load(&t->queue->wanted)));
}

static bool region_map(struct traced_thread *t, struct thread_sampling *sampling)
{
    int fd = queue_memory(REGION_MAP_BYTES);
    void *memory = fd < 0 ? MAP_FAILED
                          : mmap(NULL, REGION_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return region_refuse(t, NEVER);
    }
    struct thread_profile *m = region_init(t, memory);
    if (sampling)
        region_open_sampled(t, m, sampling);
    else
        region_calibrate(t, m);
    bool taken = region_send(fd, t);
    close(fd);
    if (!taken) {
        activity_end(m);
        munmap(memory, REGION_MAP_BYTES);
        return region_refuse(t, LATER);
    }
    t->profile_retry = 0;
    t->profile = m;
    return true;
}

static bool region_may_have(struct traced_thread *t)
{
    if (t->profile_retry && t->profile_retry != NEVER)
        t->profile_retry--;
    if (t->busy || !seccomp_allows(ALLOWED_QUEUES) || t->profile_retry ||
        tracer.server.needs_socket || !t->queue || !trace_line_index(t->own) ||
        t->life != atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed))
        return false;
    if (!t->profile_kept)
        t->profile_kept = tracer_arena_alloc(sizeof *t->profile_kept);
    return t->profile_kept != NULL;
}

/* No handler runs in between: its calls must be counted, too. */
static bool region_create_for(struct traced_thread *t, struct thread_sampling *sampling)
{
    sigset_t all, before;
    int saved = errno, cancelling;
    if (!region_may_have(t))
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    busy_begin(t);
    bool made = region_map(t, sampling);
    busy_end(t);
    pthread_setcancelstate(cancelling, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return made;
}

bool region_create(struct traced_thread *t) { return region_create_for(t, NULL); }

bool region_create_sampled(struct traced_thread *t, struct thread_sampling *sampling)
{
    return region_create_for(t, sampling);
}

/* Adds the time that a task was on no thread of the system to its current call, as off-CPU time. */
static void region_add_paused(struct thread_profile *m, uint64_t now)
{
    uint64_t away = (int64_t)(now - m->replaced_at) > 0 ? now - m->replaced_at : 0;
    m->off += away;
    m->anchor.off += away; /* another task's, or none's, on the clock that it is read from */
    m->replaced_at = 0;
    m->activity.since = now; /* meanwhile it did nothing */
    m->last = now;
    sum_add(&frames_timed(m, call_stack_top(m))->off, away);
    sum_set(&m->head->off_ticks, m->off);
}

void region_check(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (m && m->anchor.set && !m->replaced_at)
        cpu_gap_check(m, call_stack_top(m));
}

void region_gone(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    region_check(t);
    if (m)
        sum_set(&m->head->gone, region_ticks(m));
}

void region_stays(struct traced_thread *t)
{
    if (t->profile)
        sum_set(&t->profile->head->gone, 0);
}

/* Pauses all calls, so that only the thread itself is left. */
static void region_pause_calls(struct thread_profile *m, uint64_t now)
{
    uint64_t ran = now - m->off;
    while (call_stack_depth(m) > 1)
        if (call_stack_top(m)->stack == OUTERMOST)
            call_stack_base_leave(m, ran);
        else
            call_stack_pause(m, now, ran, true);
}

/* Leaves the calls that have ended without a return; returns the time. */
static uint64_t region_settle(struct thread_profile *m)
{
    frames_rejoin(m);
    uint64_t now = thread_profile_ticks(m);
    if (call_stack_depth(m) > REGION_FRAMES)
        atomic_store(&m->head->depth, REGION_FRAMES);
    if (m->replaced_at) /* a task that ends without having run again */
        region_add_paused(m, now);
    if (m->jumps)
        frames_settle(m);
    return now;
}

void region_leave_calls(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (!m)
        return;
    region_check(t);
    uint64_t now = region_settle(m);
    t->profile = NULL; /* of handlers */
    atomic_signal_fence(memory_order_seq_cst);
    region_pause_calls(m, now);
    atomic_signal_fence(memory_order_seq_cst);
    t->profile = m;
}

void region_quit(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (!m)
        return;
    uint64_t now = region_settle(m);
    t->profile = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    region_pause_calls(m, now);
    call_stack_drop(m, now, now - m->off);
}

void region_end(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    t->profile_retry = 0;
    if (!m)
        return;
    region_check(t);
    region_quit(t);
    activity_end(m);
    call_log_leave(m);
    block_counts_end(m);
    library_slots_end_thread();
    munmap(m->head, REGION_MAP_BYTES);
}

void region_forked(struct traced_thread *t)
{
    struct thread_profile *m = t ? t->profile : NULL;
    atomic_store(&tracer.threads.running, 0);
    atomic_store(&tracer.threads.untraced, 0);
    frames_forked((uint64_t)(uintptr_t)__builtin_frame_address(0));
    if (t)
        t->profile = NULL;
    if (!m)
        return;
    activity_end(m);
    call_log_forked(m);
    block_counts_end(m);
    mmap(m->head, REGION_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
}

bool region_is_changing(const struct traced_thread *t)
{
    const struct thread_profile *m = t->profile;
    return m && (m->changing_stack || m->reading_stack);
}

void region_pause(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (!m)
        return;
    m->replaced_at = thread_profile_ticks(m);
    cpu_gap_leave(m, m->replaced_at);
    if ((int64_t)(m->last - m->replaced_at) > 0) /* up to then, its off-CPU time is counted */
        m->replaced_at = m->last;
}

/* Other threads of the system have other CPU clocks. */
void region_resume(struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (!m || !m->replaced_at)
        return;
    uint64_t now = thread_profile_ticks(m);
    if (atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_CPU)
        now = cpu_gap_return(m, now);
    region_add_paused(m, now);
}

uint32_t region_current_context(const struct traced_thread *t)
{
    const struct profile_region_frame *f = call_stack_top(t->profile);
    bool waits =
        f->function && f->function <= UINT16_MAX; /* in a call that is recorded: its caller */
    return atomic_load_explicit(&f[waits ? -1 : 0].context, memory_order_relaxed);
}

/* ---- call context of the calling thread, for libpoet-memory ---- */

uint64_t poet_heap_context(void)
{
    const struct traced_thread *t = thread_self();
    const struct thread_profile *m = t && t->queue ? t->profile : NULL;
    if (!m || !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_CALLS))
        return 0;
    uint32_t context = atomic_load_explicit(&call_stack_top(m)->context, memory_order_relaxed);
    return context ? (uint64_t)m->serial << 32 | context : 0;
}

uint32_t poet_heap_calls(uint64_t context, uint64_t *functions, uint32_t most)
{
    const struct traced_thread *t = thread_self();
    const struct thread_profile *m = t ? t->profile : NULL;
    uint32_t n = 0;
    if (!m || m->serial != context >> 32)
        return 0;
    for (uint32_t c = (uint32_t)context; c && c < REGION_CONTEXTS && n < most;
         c = contexts_of(m)[c].parent)
        if (contexts_of(m)[c].scope == SCOPE_FUNCTION)
            functions[n++] = contexts_of(m)[c].function;
    return n;
}

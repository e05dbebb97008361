#define _GNU_SOURCE
#include "clients/libpoet/replay/held_points.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/replay/cpu_time_used.h"
#include "clients/libpoet/replay/replay_stops.h"
#include "wire/schedule_control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 500000
#define SETTLE_NS 3000000 /* what was recorded before its call is done by then */
#define TIMEOUT_LOOK_NS 10000000u
/* how long a thread that is held after its event stays: until the awaited event's call is made */
#define AFTERWARDS_NS 50000000
#define HOLD_POINT_THREADS_MAX 64u
#define HOLDS_SEEN 8u

static struct schedule_control *hold_point_file;

/* ---- points ---- */

static uintptr_t _Atomic hold_point_sites[SCHEDULE_CONTROL_POINTS]; /* the site, once it is known */

static bool hold_point_is_at(unsigned i, uintptr_t site)
{
    uintptr_t known = atomic_load_explicit(&hold_point_sites[i], memory_order_relaxed);
    if (LIKELY(known != 0) || !site)
        return known == site && site;
    uintptr_t bias = 0;
    const char *path = modules_path(site, &bias), *slash = path ? strrchr(path, '/') : NULL;
    if (!path || site - bias != hold_point_file->points[i].address ||
        strcmp(slash ? slash + 1 : path, hold_point_file->points[i].file) != 0)
        return false;
    atomic_store_explicit(&hold_point_sites[i], site, memory_order_relaxed);
    return true;
}

/* Returns whether a thread is held before its event, so that it has not acquired the lock. */
static bool hold_point_is_before(const struct hold_point *p)
{
    return p->until == HOLD_UNTIL_DONE || p->until == HOLD_UNTIL_DONE_SINCE_HELD;
}

/* Returns the name of the event at which a thread is held: the request, if it is held before it
 * acquires a lock. */
static const char *hold_point_type(const struct hold_point *p)
{
    static const enum trace_type acquire[] = {TYPE_LOCK, TYPE_ACQUIRED, TYPE_READ_ACQUIRED,
                                              TYPE_WRITE_ACQUIRED};
    for (size_t i = 0; hold_point_is_before(p) && i < sizeof acquire / sizeof *acquire; i++)
        if (strcmp(p->type, type_code_name(acquire[i])) == 0)
            return type_code_name(TYPE_ACQUIRE);
    return p->type;
}

static bool hold_point_is_type(unsigned i, uint16_t type)
{
    const char *name = type ? type_code_name(type) : NULL;
    return name && strcmp(name, hold_point_type(&hold_point_file->points[i])) == 0;
}

static bool hold_point_is_for_thread(unsigned i, const struct traced_thread *t)
{
    uint32_t wanted = hold_point_file->points[i].thread;
    return !wanted || atomic_load_explicit(&t->own->script, memory_order_relaxed) == wanted;
}

static uint32_t hold_point_find(const struct traced_thread *t, uint16_t type, uintptr_t site)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < hold_point_file->point_count; i++)
        if (hold_point_is_at(i, site) && hold_point_is_type(i, type) &&
            hold_point_is_for_thread(i, t))
            bits |= 1u << i;
    return bits;
}

static uint32_t hold_point_sum(const struct hold_point *p, bool inside)
{
    uint32_t all = 0;
    for (unsigned i = 0; i < hold_point_file->point_count; i++)
        if (p->others >> i & 1)
            all += atomic_load(inside ? &hold_point_file->points[i].inside
                                      : &hold_point_file->points[i].done);
    return all;
}

/* ---- units of semaphores that the thread has acquired and not posted ---- */

static __thread const struct trace_line *hold_point_units[HOLDS_SEEN]
    __attribute__((tls_model("initial-exec")));
static __thread unsigned hold_point_unit_count __attribute__((tls_model("initial-exec")));

static void hold_point_note_units(const struct record *r)
{
    unsigned i = 0, *count = &hold_point_unit_count;
    if ((r->shape == SHAPE_TAKE || r->shape == SHAPE_TAKEN) && *count < HOLDS_SEEN)
        hold_point_units[(*count)++] = r->b;
    if (r->shape != SHAPE_POST)
        return;
    while (i < *count && hold_point_units[i] != r->b)
        i++;
    if (i < *count)
        hold_point_units[i] = hold_point_units[--*count];
}

/* ---- held threads, by what they request ---- */

static latch held_lock;
static struct hold_point_thread {
    const struct traced_thread *thread; /* NULL: no thread */
    const struct trace_line *asks, *holds[HOLDS_SEEN];
    unsigned count;
    bool released;
} hold_point_held[HOLD_POINT_THREADS_MAX];

static struct hold_point_thread *hold_point_holder(const struct trace_line *line,
                                                   const struct hold_point_thread *but)
{
    for (unsigned i = 0; i < HOLD_POINT_THREADS_MAX; i++)
        for (unsigned k = 0; hold_point_held[i].thread && &hold_point_held[i] != but &&
                             k < hold_point_held[i].count;
             k++)
            if (hold_point_held[i].holds[k] == line)
                return &hold_point_held[i];
    return NULL;
}

/* Unblocks a cycle that one thread closes. */
static void hold_point_close_cycle(struct hold_point_thread *me)
{
    struct hold_point_thread *circle[HOLD_POINT_THREADS_MAX], *next = me;
    unsigned count = 0;
    do {
        circle[count++] = next;
        next = hold_point_holder(next->asks, next);
    } while (next && next != me && count < HOLD_POINT_THREADS_MAX);
    for (unsigned i = 0; next == me && i < count; i++)
        circle[i]->released = true;
}

static struct hold_point_thread *hold_point_wait_begin(struct traced_thread *t,
                                                       const struct trace_line *asks)
{
    struct hold_point_thread *me = NULL;
    latch_lock(&held_lock);
    for (unsigned i = 0; i < HOLD_POINT_THREADS_MAX && !me; i++)
        me = hold_point_held[i].thread ? NULL : &hold_point_held[i];
    if (me) {
        *me = (struct hold_point_thread){.thread = t, .asks = asks};
        for (size_t i = 0; i < t->hold_stack.count && me->count < HOLDS_SEEN; i++)
            me->holds[me->count++] = t->hold_stack.holds[i].line;
        for (unsigned i = 0; i < hold_point_unit_count && me->count < HOLDS_SEEN; i++)
            me->holds[me->count++] = hold_point_units[i];
        hold_point_close_cycle(me);
    }
    latch_unlock(&held_lock);
    return me;
}

static bool hold_point_is_released(const struct hold_point_thread *me)
{
    latch_lock(&held_lock);
    bool released = me->released;
    latch_unlock(&held_lock);
    return released;
}

static void hold_point_wait_end(struct hold_point_thread *me)
{
    latch_lock(&held_lock);
    me->thread = NULL;
    latch_unlock(&held_lock);
}

/* ---- holding ---- */

/* The points of which the thread did the event. */
static __thread uint32_t performed __attribute__((tls_model("initial-exec")));

static bool hold_point_is_reached(const struct hold_point *p, const struct hold_point_thread *me,
                                  uint32_t since)
{
    switch ((enum hold_until)p->until) {
    case HOLD_UNTIL_CYCLE:
        return me && hold_point_is_released(me);
    case HOLD_UNTIL_DONE:
    case HOLD_AFTERWARDS:
    case HOLD_INTERRUPTIBLE:
        return hold_point_sum(p, false) >= p->count;
    case HOLD_UNTIL_DONE_SINCE_HELD:
        return hold_point_sum(p, false) - since >= p->count;
    case HOLD_UNTIL_WAITING:
        return hold_point_sum(p, true) >= p->count;
    case HOLD_UNTIL_MET:
        return atomic_load(&p->came) - p->skip >= p->count;
    case HOLD_UNTIL_NOT_HELD:
        break;
    }
    return true;
}

static void hold_point_pause(long ns) { nanosleep(&(struct timespec){0, ns}, NULL); }

/* How long to wait: counts only time that the awaited thread could have used. */
struct hold_point_timeout {
    uint64_t begun_ns, looked_ns, used_ns;
    struct cpu_time_sample slow;
};

/* Chooses the thread of which the time counts: the awaited one or, if that is not known or has not
 * begun, the first one of this process. */
static void choose_thread(const struct hold_point *p, uint32_t *process, uint32_t *id)
{
    *process = *id = (uint32_t)getpid();
    for (unsigned i = 0; i < hold_point_file->point_count; i++) {
        uint32_t line = p->others >> i & 1 ? hold_point_file->points[i].thread : 0;
        if (line && tracer.replay.schedule && line <= tracer.replay.schedule->line_count &&
            replay_stop_id(line)) {
            *process = replay_stop_process(line);
            *id = replay_stop_id(line);
            return;
        }
    }
}

static bool is_late(struct hold_point_timeout *timeout, const struct hold_point *p)
{
    uint32_t most_ms = hold_point_file->hold_ms < SCHEDULE_CONTROL_HOLD_MS
                           ? hold_point_file->hold_ms
                           : SCHEDULE_CONTROL_HOLD_MS,
             process, id;
    uint64_t most = most_ms * UINT64_C(1000000), now = tracer_clock_now();
    if (now - timeout->looked_ns >= TIMEOUT_LOOK_NS) {
        choose_thread(p, &process, &id);
        timeout->used_ns += cpu_time_used(&timeout->slow, process, id, now - timeout->looked_ns);
        timeout->looked_ns = now;
    }
    return timeout->used_ns >= most || now - timeout->begun_ns >= STEER_STARVED * most;
}

/* Waits until the condition holds, or the time is over. */
static void hold_point_wait(struct hold_point *p, const struct hold_point_thread *me)
{
    uint32_t since = hold_point_sum(p, false);
    struct hold_point_timeout timeout = {.begun_ns = tracer_clock_now()};
    timeout.looked_ns = timeout.begun_ns;
    bool so = hold_point_is_reached(p, me, since), first = so;
    while (!so && !is_late(&timeout, p)) {
        hold_point_pause(LOOK_NS);
        so = hold_point_is_reached(p, me, since);
    }
    if (so && !first)
        hold_point_pause(SETTLE_NS);
    atomic_fetch_add(so ? &p->freed : &p->late, 1);
}

static bool hold_point_is_selected(const struct hold_point *p, uint32_t came)
{
    return came >= p->skip && (!p->most || came - p->skip < p->most);
}

static bool hold_point_is_after_event(const struct hold_point *p)
{
    return p->until == HOLD_AFTERWARDS || p->until == HOLD_INTERRUPTIBLE;
}

/* Called before what the thread is about to do there. */
static void hold_point_hold(struct traced_thread *t, uint32_t bits, const struct trace_line *asks)
{
    int saved = errno;
    for (unsigned i = 0; i < hold_point_file->point_count; i++) {
        struct hold_point *p = &hold_point_file->points[i];
        bool circle = p->until == HOLD_UNTIL_CYCLE;
        if (!(bits >> i & 1) || hold_point_is_after_event(p) ||
            (p->until == HOLD_UNTIL_MET && p->others & ~performed) ||
            !hold_point_is_selected(p, atomic_fetch_add(&p->came, 1)) ||
            p->until == HOLD_UNTIL_NOT_HELD ||
            atomic_load(&p->late) >= hold_point_file->late_most ||
            (circle && !t->hold_stack.count && !hold_point_unit_count))
            continue;
        busy_begin(t);
        struct hold_point_thread *me = circle ? hold_point_wait_begin(t, asks) : NULL;
        hold_point_wait(p, me);
        if (me)
            hold_point_wait_end(me);
        busy_end(t);
    }
    errno = saved;
}

void hold_point_before_lock(struct traced_thread *t, const struct trace_line *line, uintptr_t site)
{
    uint32_t bits = hold_point_find(t, TYPE_ACQUIRE, site);
    if (bits)
        hold_point_hold(t, bits, line);
}

void hold_point_before_unit(struct traced_thread *t, const struct trace_line *line, uintptr_t site)
{
    uint32_t bits =
        hold_point_find(t, TYPE_SEM_ACQUIRED, site) | hold_point_find(t, TYPE_WAIT, site);
    if (bits)
        hold_point_hold(t, bits, line);
}

/* ---- records ---- */

/* State of the thread's record that is being made, and until its next record. */
static __thread uint32_t meets, within __attribute__((tls_model("initial-exec")));

static void hold_point_leave_inside(void)
{
    for (unsigned i = 0; within && i < hold_point_file->point_count; i++)
        if (within >> i & 1)
            atomic_fetch_sub(&hold_point_file->points[i].inside, 1);
    within = 0;
}

/* Returns whether it is recorded before its call: else it is too late to hold the thread. */
static bool hold_point_precedes_call(const struct record *r)
{
    return !r->b || r->shape == SHAPE_POST || r->shape == SHAPE_LEAVE ||
           r->shape == SHAPE_READ_LEAVE || r->shape == SHAPE_WRITE_LEAVE;
}

void hold_point_before_event(struct traced_thread *t, const struct record *r)
{
    struct shape_step steps[CODES_STEPS];
    unsigned count = type_code_steps(r->shape, steps);
    uint32_t before = 0;
    hold_point_leave_inside();
    hold_point_note_units(r);
    meets = 0;
    if (t->schedule.line && t->schedule.next < t->schedule.count)
        return; /* it repeats */
    for (unsigned i = 0; i < count; i++) {
        meets |= hold_point_find(t, steps[i].type_a, r->site) |
                 hold_point_find(t, steps[i].type_b, r->site);
        if ((i == 0 || r->shape == SHAPE_POST) && hold_point_precedes_call(r) &&
            steps[i].type_a != TYPE_ACQUIRE)
            before = meets;
    }
    if (before)
        hold_point_hold(t, before, NULL);
}

/* Holds the thread that has just recorded its event, as in a critical section. */
static void hold_point_hold_afterwards(uint32_t bits, enum hold_until until)
{
    int saved = errno;
    for (unsigned i = 0; i < hold_point_file->point_count; i++) {
        struct hold_point *p = &hold_point_file->points[i];
        if (!(bits >> i & 1) || p->until != until ||
            !hold_point_is_selected(p, atomic_fetch_add(&p->came, 1)) ||
            atomic_load(&p->late) >= hold_point_file->late_most)
            continue;
        hold_point_wait(p, NULL);
        hold_point_pause(AFTERWARDS_NS);
    }
    errno = saved;
}

void hold_point_after_event(struct traced_thread *t)
{
    for (unsigned i = 0; meets && i < hold_point_file->point_count; i++)
        if (meets >> i & 1) {
            atomic_fetch_add(&hold_point_file->points[i].inside, 1);
            atomic_fetch_add(&hold_point_file->points[i].done, 1);
        }
    within = meets;
    performed |= meets;
    meets = 0;
    if (!within)
        return;
    busy_begin(t);
    hold_point_hold_afterwards(within, HOLD_AFTERWARDS);
    busy_end(t);
}

void hold_point_after_lock(const struct traced_thread *t)
{
    if (within && !t->busy)
        hold_point_hold_afterwards(within, HOLD_INTERRUPTIBLE);
}

/* ---- the file ---- */

static struct schedule_control *hold_point_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *s = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == sizeof(struct schedule_control))
        s = mmap(NULL, sizeof(struct schedule_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return s == MAP_FAILED ? NULL : s;
}

static bool hold_point_is_valid(const struct schedule_control *s)
{
    bool sound = s->magic == SCHEDULE_CONTROL_MAGIC && s->version == SCHEDULE_CONTROL_VERSION &&
                 s->point_count <= SCHEDULE_CONTROL_POINTS;
    for (unsigned i = 0; sound && i < s->point_count; i++)
        sound = memchr(s->points[i].type, 0, SCHEDULE_CONTROL_TYPE_BYTES) &&
                memchr(s->points[i].file, 0, SCHEDULE_CONTROL_FILE_BYTES);
    return sound;
}

bool hold_point_begin(void)
{
    const char *path = environment_get("POET_SCHEDULE_CONTROL");
    if (!path || !*path)
        return false;
    struct schedule_control *s = hold_point_map(path);
    if (!s || !hold_point_is_valid(s)) {
        stderr_log_print_once("POET_SCHEDULE_CONTROL: %s: invalid schedule file; "
                              "running without schedule control",
                              path);
        return false;
    }
    hold_point_file = s;
    tracer.replay.has_hold_points = true;
    return true;
}

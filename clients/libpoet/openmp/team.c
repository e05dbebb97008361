/* Teams and their barriers. */
#define _GNU_SOURCE
#include "clients/libpoet/openmp/team.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/openmp/omp_objects.h"
#include "clients/libpoet/poet.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- task frames ---- */

static __thread struct task_frame *now __attribute__((tls_model("initial-exec")));
static __thread struct task_frame outside
    __attribute__((tls_model("initial-exec"))); /* of every team */

static __thread bool pooled
    __attribute__((tls_model("initial-exec"))); /* a worker of the runtime */

/* Reports the thread as idle if it waits in its frame, or is a worker that is in no team. */
static void task_frame_report_rest(void) { poet_rests(now ? now->waits : pooled || outside.waits); }

void task_frame_set_pooled(void) { pooled = true; }

struct task_frame *task_frame_current(void)
{
    if (now)
        return now;
    if (!outside.id)
        outside.id = task_frame_unique();
    return &outside;
}

uint64_t task_frame_unique(void)
{
    static _Atomic uint64_t frames;
    return key_mix(atomic_fetch_add(&frames, 1) + 1, 0x656d617266u);
}

struct task_frame *task_frame_begin(struct task_frame *frame, uint64_t id, struct task_group *group)
{
    struct task_frame *outer = now;
    *frame = (struct task_frame){.id = id, .group = group};
    now = frame;
    task_frame_report_rest();
    return outer;
}

void task_frame_end(struct task_frame *frame, struct task_frame *outer)
{
    task_depends_free(frame->depends);
    frame->depends = NULL;
    now = outer;
    task_frame_report_rest();
}

void task_frame_wait_begin(enum omp_event by, poet_line_t line, const void *site)
{
    struct task_frame *f = task_frame_current();
    f->waits = true;
    f->waits_by = by;
    f->waits_for = line;
    f->waits_at = site;
    task_frame_report_rest();
}

void task_frame_wait_end(void)
{
    task_frame_current()->waits = false;
    task_frame_report_rest();
}

bool task_frame_is_waiting(enum omp_event by)
{
    return task_frame_current()->waits && task_frame_current()->waits_by == by;
}

struct task_frame *task_frame_resume(struct task_frame *frame)
{
    struct task_frame *before = now;
    now = frame;
    task_frame_report_rest();
    return before;
}

/* ---- members ---- */

#define GROUP_MOST 65536u
#define UNMET_NEVER UINT64_MAX
#define SPINS 4000u /* checks before a member sleeps, if each has a processor */

static __thread struct team_member *mine __attribute__((tls_model("initial-exec")));
static __thread bool named __attribute__((tls_model("initial-exec")));

struct team_member *member_current(void) { return mine; }
const void *team_thread_address(void) { return &mine; }

enum { KEY_BEGIN = 1, KEY_DONE, KEY_BARRIER, KEY_REACHED };
static uint64_t team_key(const struct team *t, unsigned what, uint64_t a, uint64_t b)
{
    return key_mix(key_mix(key_mix(t->id, what), a), b);
}

/* ---- a region ---- */

void team_begin(struct team *team, const void *body, bool cancellable, const void *site)
{
    static _Atomic uint64_t teams;
    int saved = errno;
    *team = (struct team){.id = atomic_fetch_add(&teams, 1) + 1,
                          .master = team_thread_address(),
                          .site = site,
                          .body = body,
                          .nested = mine != NULL,
                          .of = mine ? mine->number : 0,
                          .cancellable = cancellable,
                          .ordering = ATOMIC_FLAG_INIT};
    team->line = omp_object_line(OMP_OBJECT_REGION, body, "", site);
    team->followed =
        event_record_send(EVENT_region, team->line, team_key(team, KEY_BEGIN, 0, 0), site);
    atomic_init(&team->unmet, team->followed ? UNMET_NEVER : 0);
    atomic_init(&team->fewest, UINT64_MAX);
    errno = saved;
}

/* Comes after those that recorded their end as messages; it has synchronized with the others. */
void team_end(struct team *team, const void *site)
{
    int saved = errno;
    uint32_t done = atomic_load(&team->done);
    bool doubtful = atomic_load(&team->doubtful) || atomic_load(&team->later) || done > KEYS_MOST;
    uint64_t *keys = done && done <= KEYS_MOST ? malloc(done * sizeof *keys) : NULL;
    for (uint32_t i = 0; keys && i < done; i++)
        keys[i] = team_key(team, KEY_DONE, i, 0);
    doubtful |= done && !keys;
    doubtful |= !team->followed || atomic_load(&team->uneven);
    event_record_receive(EVENT_region_end, team->line, keys, keys ? done : 0,
                         doubtful ? POET_DOUBT_THREAD : 0, site);
    free(keys);
    errno = saved;
}

/* ---- its members ---- */

/* A worker is named by its number in the first team that it is in, and by the thread that began
 * that team. */
static void team_name_thread(const struct team_member *m)
{
    char name[64];
    if (named || m->number == 0)
        return;
    named = true;
    if (m->team->nested)
        snprintf(name, sizeof name, "thread %u.%u", m->team->of, m->number);
    else
        snprintf(name, sizeof name, "thread %u", m->number);
    poet_set_name(name);
}

void member_begin(struct team_member *m, struct team *team, uint32_t size, uint32_t number)
{
    int saved = errno;
    *m = (struct team_member){.team = team, .outer = mine, .number = number};
    atomic_store(&team->size, size);
    mine = m;
    if (team->master != team_thread_address())
        task_frame_set_pooled();
    m->outer_frame = task_frame_begin(&m->frame, task_frame_unique(), NULL);
    bool recorded;
    if (team->master == team_thread_address() || !team->followed) {
        recorded = event_record(EVENT_part, team->line, team->followed ? 0 : POET_DOUBT_THREAD,
                                team->body);
    } else {
        /* before: its schedule in a replayed run is found by that */
        team_name_thread(m);
        recorded = event_record_receive(EVENT_part, team->line,
                                        (const uint64_t[]){team_key(team, KEY_BEGIN, 0, 0)}, 1, 0,
                                        team->body);
    }
    if (!recorded)
        atomic_store(&team->unmet, 0);
    errno = saved;
}

/* By messages, where it does not synchronize with the others. */
static void team_record_done(struct team_member *m)
{
    struct team *t = m->team;
    uint32_t i = atomic_fetch_add(&t->done, 1);
    if (!event_record_send(EVENT_done, t->line, team_key(t, KEY_DONE, i, 0), t->body))
        atomic_store(&t->doubtful, true);
    if (atomic_load(&t->tasks))
        atomic_store(&t->later, true);
}

/* ---- how far the members have come ---- */

static void team_changed(struct team *t)
{
    atomic_fetch_add(&t->changes, 1);
    if (atomic_load(&t->sleepers))
        syscall(SYS_futex, &t->changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void team_makes_tasks(struct team *t)
{
    int saved = errno;
    if (!atomic_load_explicit(&t->tasks, memory_order_relaxed) && !atomic_exchange(&t->tasks, true))
        team_changed(t);
    errno = saved;
}

/* All members pass the same number of barriers. If one came to the end with fewer than another has
 * arrived at, it will be awaited in vain: from the missing barrier on, no synchronization is
 * assumed. */
static void team_compare(struct team *t)
{
    uint64_t fewest = atomic_load(&t->fewest), unmet = atomic_load(&t->unmet);
    if (atomic_load(&t->came) <= fewest)
        return;
    while (unmet > fewest + 1 && !atomic_compare_exchange_weak(&t->unmet, &unmet, fewest + 1))
        ;
    if (!atomic_exchange(&t->uneven, true))
        team_changed(t);
}

static void team_note_arrival(struct team *t, uint64_t barrier)
{
    uint64_t came = atomic_load(&t->came);
    while (came < barrier && !atomic_compare_exchange_weak(&t->came, &came, barrier))
        ;
    team_compare(t);
}

/* ---- barriers ---- */

static bool team_has_barrier(const struct team_member *m)
{
    return m && atomic_load(&m->team->size) > 1;
}

/* Called before the barrier: a member that returns from it knows which ones were not recorded on
 * arrival. */
static void team_set_not_recorded(struct team_member *m)
{
    uint64_t unmet = atomic_load(&m->team->unmet);
    while (unmet > m->barriers &&
           !atomic_compare_exchange_weak(&m->team->unmet, &unmet, m->barriers))
        ;
}

static uint64_t team_reached_key(const struct team_member *m, uint32_t number)
{
    return team_key(m->team, KEY_REACHED, m->barriers, number);
}

static void team_record_arrival(struct team_member *m, const void *site)
{
    m->barriers++;
    bool recorded = m->team->cancellable ? event_record_send(EVENT_reach, m->team->line,
                                                             team_reached_key(m, m->number), site)
                                         : event_record(EVENT_reach, m->team->line, 0, site);
    if (!recorded)
        team_set_not_recorded(m);
    task_frame_wait_begin(EVENT_reach, m->team->line, site);
    m->inside = true;
    m->inside_at = site;
}

void team_barrier_arrive(struct team_member *m, const void *site)
{
    int saved = errno;
    if (!team_has_barrier(m))
        return;
    team_record_arrival(m, site);
    team_note_arrival(m->team, m->barriers);
    errno = saved;
}

/* Where some may not pass: comes after all that arrived. What tasks that they ran in there did is
 * not recorded. */
static void team_follow_all(struct team_member *m, bool known, const void *site)
{
    uint32_t count = 0, size = atomic_load(&m->team->size);
    uint64_t *keys = known && size <= KEYS_MOST ? malloc(size * sizeof *keys) : NULL;
    for (uint32_t i = 0; keys && i < size; i++)
        if (i != m->number)
            keys[count++] = team_reached_key(m, i);
    event_record_receive(EVENT_through, m->team->line, keys, count,
                         !keys || atomic_load(&m->team->tasks) ? POET_DOUBT_THREAD : 0, site);
    free(keys);
}

static void team_any_passed(struct team *t, uint64_t barrier)
{
    uint64_t before = atomic_load(&t->passed);
    while (before < barrier && !atomic_compare_exchange_weak(&t->passed, &before, barrier))
        ;
}

void team_barrier_late(struct team_member *m)
{
    if (m && m->inside && atomic_load(&m->team->passed) >= m->barriers)
        team_barrier_pass(m, false, m->inside_at);
}

void team_barrier_pass(struct team_member *m, bool cancelled, const void *site)
{
    int saved = errno;
    if (!team_has_barrier(m) || !m->inside)
        return;
    struct team *t = m->team;
    uint32_t size = atomic_load(&t->size);
    bool known = m->barriers < atomic_load(&t->unmet) && size <= GROUP_MOST;
    m->inside = false;
    task_frame_wait_end();
    if (!cancelled)
        team_any_passed(t, m->barriers);
    if (cancelled)
        event_record(EVENT_stopped, t->line, POET_DOUBT_THREAD, site);
    else if (t->cancellable)
        team_follow_all(m, known, site);
    else if (known)
        event_record_group(EVENT_through, t->line, team_key(t, KEY_BARRIER, m->barriers, 0), size,
                           atomic_load(&t->doubtful) ? POET_DOUBT_THREAD : 0, site);
    else
        event_record(EVENT_through, t->line, POET_DOUBT_THREAD, site);
    errno = saved;
}

void team_barrier_retry(struct team_member *m, const void *site)
{
    if (!team_has_barrier(m))
        return;
    m->barriers--;
    m->inside = false;
    task_frame_wait_end();
    event_record(EVENT_chosen, m->team->line, 0, site);
}

/* ---- the end of a region ---- */

static void team_over(struct team *t, uint64_t barriers)
{
    uint64_t fewest = atomic_load(&t->fewest);
    while (fewest > barriers && !atomic_compare_exchange_weak(&t->fewest, &fewest, barriers))
        ;
    team_compare(t);
    if (atomic_fetch_add(&t->over, 1) + 1 == atomic_load(&t->size))
        team_changed(t);
}

/* Once all have arrived none of them creates a task: all members get the same result. */
enum team_end_kind { TEAM_END_OPEN, TEAM_END_UNEVEN, TEAM_END_TASKS, TEAM_END_MET };
static enum team_end_kind team_end_state(struct team *t)
{
    bool all = atomic_load(&t->over) >= atomic_load(&t->size);
    if (atomic_load(&t->uneven))
        return TEAM_END_UNEVEN;
    if (atomic_load(&t->tasks))
        return TEAM_END_TASKS;
    return all ? TEAM_END_MET : TEAM_END_OPEN;
}

static unsigned team_spins(const struct team *t)
{
    static _Atomic uint32_t processors;
    uint32_t n = atomic_load_explicit(&processors, memory_order_relaxed);
    cpu_set_t set;
    if (!n) {
        const char *policy = getenv("OMP_WAIT_POLICY");
        n = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
        n = policy && strcasecmp(policy, "passive") == 0 ? 1 : n;
        atomic_store_explicit(&processors, n, memory_order_relaxed);
    }
    return atomic_load(&t->size) <= n ? SPINS : 0;
}

static enum team_end_kind team_await_end(struct team *t)
{
    enum team_end_kind end = team_end_state(t);
    for (unsigned looks = end ? 0 : team_spins(t); !end && looks; looks--) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        end = team_end_state(t);
    }
    while (!end) {
        atomic_fetch_add(&t->sleepers, 1);
        uint32_t seen = atomic_load(&t->changes);
        end = team_end_state(t);
        if (!end)
            syscall(SYS_futex, &t->changes, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
        atomic_fetch_sub(&t->sleepers, 1);
    }
    return end;
}

/* It stays in the runtime's own barrier at the end, at which the others will not arrive. */
static void team_stay_uneven(struct team_member *m)
{
    m->inside = false;
    task_frame_wait_end();
    event_record(EVENT_uneven, m->team->line, 0, m->team->body);
    task_frame_wait_begin(EVENT_uneven, m->team->line, m->team->body);
}

static void team_meet_at_end(struct team_member *m, void (*barrier)(const void *),
                             const void *context)
{
    struct team *t = m->team;
    uint64_t passed = m->barriers;
    team_record_arrival(m, t->body);
    team_over(t, passed);
    enum team_end_kind end = team_await_end(t);
    if (end == TEAM_END_UNEVEN) {
        team_stay_uneven(m);
        return;
    }
    if (end == TEAM_END_TASKS)
        barrier(context);
    team_barrier_pass(m, false, t->body);
}

void member_over(struct team_member *m, void (*barrier)(const void *context), const void *context)
{
    struct team *t = m->team;
    bool is_master = t->master == team_thread_address();
    int saved = errno;
    if (m->over)
        return;
    m->over = true;
    if (!t->followed || atomic_load(&t->size) < 2) {
        ;
    } else if (barrier && !t->cancellable) {
        team_meet_at_end(m, barrier, context);
    } else if (is_master) {
        event_record(EVENT_reach, t->line, 0, t->body);
        task_frame_wait_begin(EVENT_reach, t->line, t->body);
    } else {
        team_record_done(m);
    }
    if (t->followed && !is_master && !task_frame_is_waiting(EVENT_uneven)) {
        event_record(EVENT_idle, t->line, 0, t->body);
        task_frame_wait_begin(EVENT_idle, t->line, t->body);
    }
    errno = saved;
}

void member_end(struct team_member *m)
{
    mine = m->outer;
    task_frame_end(&m->frame, m->outer_frame);
}

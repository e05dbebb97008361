/* Replay of tasks: held tasks, and the waits of threads for their turn. */
#define _GNU_SOURCE
#include "clients/libpoet/openmp/task_replay.h"

#include "clients/libpoet/openmp/team.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 20u

/* Those that have not ended, in the order of their creation; protected by `busy`. */
static struct held_task *task_replay_first, **task_replay_last = &task_replay_first;
static atomic_flag task_replay_busy = ATOMIC_FLAG_INIT;
static _Atomic uint32_t count, changes; /* their number; changes of any of them (futex) */
/* no thread waits any more for the task that was run next */
static _Atomic bool task_replay_timed_out;

static bool task_replay_active; /* set at the start and never changed */

/* A child does not have its parent's threads, which would run them. */
static void task_replay_forked(void)
{
    task_replay_first = NULL;
    task_replay_last = &task_replay_first;
    atomic_store(&count, 0);
    atomic_flag_clear(&task_replay_busy);
}

__attribute__((constructor)) static void task_replay_init(void)
{
    const char *script = getenv("POET_REPLAY");
    task_replay_active = script && *script && pthread_atfork(NULL, NULL, task_replay_forked) == 0;
}

static void task_replay_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&task_replay_busy, memory_order_acquire))
        sched_yield();
}

static void task_replay_unlock(void)
{
    atomic_flag_clear_explicit(&task_replay_busy, memory_order_release);
}

static void task_replay_notify(void)
{
    atomic_fetch_add(&changes, 1);
    syscall(SYS_futex, &changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void task_replay_release_team(void)
{
    const struct team_member *m = member_current();
    if (m)
        atomic_store(&m->team->apart, true);
}

bool task_replay_wanted(void)
{
    const struct team_member *m = task_replay_active ? member_current() : NULL;
    const struct team *t = m ? m->team : NULL;
    return t && t->followed && !t->cancellable && atomic_load(&t->size) > 1 &&
           !atomic_load_explicit(&t->apart, memory_order_relaxed) &&
           !atomic_load_explicit(&task_replay_timed_out, memory_order_relaxed) &&
           poet_replay_peek(event_type(EVENT_run), 0, 0) >= 0;
}

bool task_replay_is_needed(void)
{
    return task_replay_active &&
           (atomic_load_explicit(&count, memory_order_relaxed) || task_replay_wanted());
}

void task_replay_add(struct held_task *h)
{
    int saved = errno;
    h->maker = task_frame_current()->id;
    h->team = member_current()->team;
    h->runs = false;
    h->next = NULL;
    task_replay_lock();
    *task_replay_last = h;
    task_replay_last = &h->next;
    atomic_fetch_add(&count, 1);
    task_replay_unlock();
    task_replay_notify();
    errno = saved;
}

static void task_replay_remove(struct held_task *h)
{
    struct held_task **at = &task_replay_first;
    task_replay_lock();
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    if (task_replay_last == &h->next)
        task_replay_last = at;
    atomic_fetch_sub(&count, 1);
    task_replay_unlock();
    task_replay_notify();
}

static void task_replay_run(struct held_task *h)
{
    h->call(h);
    task_replay_remove(h);
    free(h);
}

/* ---- which ---- */

static bool task_replay_is_same(poet_event_t a, poet_event_t b)
{
    return a.line == b.line && a.number == b.number;
}

bool task_replay_any_is_next(void)
{
    return task_replay_active && poet_replay_peek(event_type(EVENT_run), 0, 0) == 1;
}

bool task_replay_is_next(const struct omp_task *task)
{
    poet_event_t from;
    return task_replay_active && task->spawn.line &&
           poet_replay_peek_sender(event_type(EVENT_run), &from) > 0 &&
           task_replay_is_same(from, task->spawn);
}

/* What a thread waits for. */
struct task_replay_target {
    enum { CHILDREN, GROUP, BEFORE, ONLY, TEAM, NOTHING } of;
    const struct team *team;
    const struct task_frame *frame;
    const struct omp_task *task; /* BEFORE, and ONLY: this one; ONLY: whatever is next */
};

static bool task_replay_is_awaited(const struct task_replay_target *aim, const struct held_task *h)
{
    switch (aim->of) {
    case CHILDREN:
        return h->maker == aim->frame->id;
    case GROUP:
        return aim->frame->group && h->task->group == aim->frame->group;
    case BEFORE:
    case ONLY:
        return h->maker == aim->frame->id && omp_task_is_after(aim->task, h->task);
    case TEAM:
        return h->team == aim->team && !h->runs;
    default:
        return false;
    }
}

static bool task_replay_awaits_any(const struct task_replay_target *aim)
{
    const struct held_task *h = task_replay_first;
    while (h && !task_replay_is_awaited(aim, h))
        h = h->next;
    return h != NULL;
}

static bool task_replay_is_ready(const struct held_task *h)
{
    const struct held_task *other = h->task->before ? task_replay_first : NULL;
    while (other && (other == h || !omp_task_is_after(h->task, other->task)))
        other = other->next;
    return other == NULL;
}

/* Returns that task; NULL: any that helps. A child depends only on tasks of the same creator. */
static struct held_task *task_replay_find(const struct task_replay_target *aim,
                                          const poet_event_t *spawn)
{
    struct held_task *h = task_replay_first;
    while (h && (h->runs || h->team != aim->team ||
                 !(spawn ? task_replay_is_same(h->task->spawn, *spawn)
                         : task_replay_is_awaited(aim, h) || h->maker == aim->frame->id) ||
                 !task_replay_is_ready(h)))
        h = h->next;
    return h;
}

/* ---- waiting ---- */

/* How long nothing has changed. */
struct task_replay_timeout {
    uint32_t seen;
    uint64_t since_ms;
};

static uint64_t task_replay_now_ms(void)
{
    struct timespec ts = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void task_replay_wait_for_change(struct task_replay_timeout *p, uint32_t seen, bool bounded)
{
    int saved = errno;
    unsigned most_ms = bounded ? poet_replay_timeout_ms() : UINT_MAX;
    uint64_t now = task_replay_now_ms();
    if (!p->since_ms || p->seen != seen)
        *p = (struct task_replay_timeout){seen, now};
    if (most_ms != UINT_MAX && now - p->since_ms > most_ms)
        atomic_store(&task_replay_timed_out, true);
    else
        syscall(SYS_futex, &changes, FUTEX_WAIT_PRIVATE, seen,
                &(struct timespec){0, LOOK_MS * 1000000}, NULL, 0);
    errno = saved;
}

/* Returns which task has the turn to run here: 1: that of *spawn; 0: none; -1: any. */
static int task_replay_whose_turn(const struct task_replay_target *aim, poet_event_t *spawn)
{
    bool freely = atomic_load(&task_replay_timed_out) || atomic_load(&aim->team->apart);
    int next = freely ? -1 : poet_replay_peek_sender(event_type(EVENT_run), spawn);
    bool own = next > 0 && aim->of == BEFORE && task_replay_is_same(*spawn, aim->task->spawn);
    return own ? 0 : next;
}

static void task_replay_await(struct task_replay_target aim)
{
    struct task_replay_timeout timeout = {0};
    if (!task_replay_is_needed() || !member_current())
        return;
    aim.team = member_current()->team;
    aim.frame = task_frame_current();
    for (;;) {
        uint32_t seen = atomic_load(&changes);
        poet_event_t spawn;
        int turn = task_replay_whose_turn(&aim, &spawn);
        task_replay_lock();
        bool waits = task_replay_awaits_any(&aim);
        struct held_task *h = turn ? task_replay_find(&aim, turn > 0 ? &spawn : NULL) : NULL;
        if (h)
            h->runs = true;
        task_replay_unlock();
        if (h)
            task_replay_run(h);
        else if (!waits && (turn <= 0 || aim.of == ONLY))
            return;
        else
            task_replay_wait_for_change(&timeout, seen, turn >= 0);
    }
}

void task_replay_await_children(void)
{
    task_replay_await((struct task_replay_target){.of = CHILDREN});
}
void task_replay_await_group(void) { task_replay_await((struct task_replay_target){.of = GROUP}); }
void task_replay_await_before(const struct omp_task *task)
{
    task_replay_await(
        (struct task_replay_target){.of = task->doubtful ? CHILDREN : BEFORE, .task = task});
}
void task_replay_end_before(const struct omp_task *task)
{
    task_replay_await((struct task_replay_target){.of = ONLY, .task = task});
}
void task_replay_await_team(void) { task_replay_await((struct task_replay_target){.of = TEAM}); }
void task_replay_resume(void) { task_replay_await((struct task_replay_target){.of = NOTHING}); }

/* Tasks of a run that is repeated. */
#define _GNU_SOURCE
#include "clients/trace/omp/held.h"

#include "clients/trace/omp/team.h"

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

/* Those that have not ended, in the order in which they were made: for whoever has `busy`. */
static struct held *first, **last = &first;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static _Atomic uint32_t count, changes; /* how many; of them all (futex) */
static _Atomic bool impatient; /* nobody waits any more for what was run next */

static bool repeats; /* set at the start and never changed */

/* A child has none of its parent's threads, which would run them. */
static void forget(void)
{
    first = NULL;
    last = &first;
    atomic_store(&count, 0);
    atomic_flag_clear(&busy);
}

__attribute__((constructor)) static void look(void)
{
    const char *script = getenv("POET_REPLAY");
    repeats = script && *script && pthread_atfork(NULL, NULL, forget) == 0;
}

static void begin(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        sched_yield();
}

static void end(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static void tell_change(void)
{
    atomic_fetch_add(&changes, 1);
    syscall(SYS_futex, &changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void held_apart(void)
{
    const struct member *m = member_now();
    if (m)
        atomic_store(&m->team->apart, true);
}

bool held_wanted(void)
{
    const struct member *m = repeats ? member_now() : NULL;
    const struct team *t = m ? m->team : NULL;
    return t && t->followed && !t->cancellable && atomic_load(&t->size) > 1 &&
           !atomic_load_explicit(&t->apart, memory_order_relaxed) &&
           !atomic_load_explicit(&impatient, memory_order_relaxed) &&
           poet_next(event_type(EVENT_run), 0, 0) >= 0;
}

bool held_concerns(void)
{
    return repeats && (atomic_load_explicit(&count, memory_order_relaxed) || held_wanted());
}

void held_add(struct held *h)
{
    int saved = errno;
    h->maker = frame_here()->id;
    h->team = member_now()->team;
    h->runs = false;
    h->next = NULL;
    begin();
    *last = h;
    last = &h->next;
    atomic_fetch_add(&count, 1);
    end();
    tell_change();
    errno = saved;
}

static void remove_it(struct held *h)
{
    struct held **at = &first;
    begin();
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    if (last == &h->next)
        last = at;
    atomic_fetch_sub(&count, 1);
    end();
    tell_change();
}

static void run(struct held *h)
{
    h->call(h);
    remove_it(h);
    free(h);
}

/* ---- which ---- */

static bool is_same(poet_event_t a, poet_event_t b)
{
    return a.line == b.line && a.number == b.number;
}

bool held_any_is_next(void) { return repeats && poet_next(event_type(EVENT_run), 0, 0) == 1; }

bool held_is_next(const struct task *task)
{
    poet_event_t from;
    return repeats && task->spawn.line && poet_next_from(event_type(EVENT_run), &from) > 0 &&
           is_same(from, task->spawn);
}

/* What a thread waits for. */
struct aim {
    enum { CHILDREN, GROUP, BEFORE, ONLY, TEAM, NOTHING } of;
    const struct team *team;
    const struct frame *frame;
    const struct task *task; /* BEFORE, and ONLY: this one; ONLY: whatever is next */
};

static bool is_awaited(const struct aim *aim, const struct held *h)
{
    switch (aim->of) {
    case CHILDREN:
        return h->maker == aim->frame->id;
    case GROUP:
        return aim->frame->group && h->task->group == aim->frame->group;
    case BEFORE:
    case ONLY:
        return h->maker == aim->frame->id && task_is_after(aim->task, h->task);
    case TEAM:
        return h->team == aim->team && !h->runs;
    default:
        return false;
    }
}

static bool awaits_any(const struct aim *aim)
{
    const struct held *h = first;
    while (h && !is_awaited(aim, h))
        h = h->next;
    return h != NULL;
}

static bool is_ready(const struct held *h)
{
    const struct held *other = h->task->before ? first : NULL;
    while (other && (other == h || !task_is_after(h->task, other->task)))
        other = other->next;
    return other == NULL;
}

/* That one; NULL: any that helps.  What a child of a task is after, that task has made, too. */
static struct held *find(const struct aim *aim, const poet_event_t *spawn)
{
    struct held *h = first;
    while (h && (h->runs || h->team != aim->team ||
                 !(spawn ? is_same(h->task->spawn, *spawn)
                         : is_awaited(aim, h) || h->maker == aim->frame->id) ||
                 !is_ready(h)))
        h = h->next;
    return h;
}

/* ---- waiting ---- */

/* How long nothing has changed. */
struct patience {
    uint32_t seen;
    uint64_t since_ms;
};

static uint64_t now_ms(void)
{
    struct timespec ts = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void wait_for_change(struct patience *p, uint32_t seen, bool bounded)
{
    int saved = errno;
    unsigned most_ms = bounded ? poet_patience() : UINT_MAX;
    uint64_t now = now_ms();
    if (!p->since_ms || p->seen != seen)
        *p = (struct patience){seen, now};
    if (most_ms != UINT_MAX && now - p->since_ms > most_ms)
        atomic_store(&impatient, true);
    else
        syscall(SYS_futex, &changes, FUTEX_WAIT_PRIVATE, seen,
                &(struct timespec){0, LOOK_MS * 1000000}, NULL, 0);
    errno = saved;
}

/* Whose turn it is to be run here: 1: that of *spawn; 0: nobody's; -1: anybody's. */
static int whose_turn(const struct aim *aim, poet_event_t *spawn)
{
    bool freely = atomic_load(&impatient) || atomic_load(&aim->team->apart);
    int next = freely ? -1 : poet_next_from(event_type(EVENT_run), spawn);
    bool own = next > 0 && aim->of == BEFORE && is_same(*spawn, aim->task->spawn);
    return own ? 0 : next;
}

static void await(struct aim aim)
{
    struct patience patience = {0};
    if (!held_concerns() || !member_now())
        return;
    aim.team = member_now()->team;
    aim.frame = frame_here();
    for (;;) {
        uint32_t seen = atomic_load(&changes);
        poet_event_t spawn;
        int turn = whose_turn(&aim, &spawn);
        begin();
        bool waits = awaits_any(&aim);
        struct held *h = turn ? find(&aim, turn > 0 ? &spawn : NULL) : NULL;
        if (h)
            h->runs = true;
        end();
        if (h)
            run(h);
        else if (!waits && (turn <= 0 || aim.of == ONLY))
            return;
        else
            wait_for_change(&patience, seen, turn >= 0);
    }
}

void held_await_children(void) { await((struct aim){.of = CHILDREN}); }
void held_await_group(void) { await((struct aim){.of = GROUP}); }
void held_await_before(const struct task *task)
{
    await((struct aim){.of = task->doubtful ? CHILDREN : BEFORE, .task = task});
}
void held_end_before(const struct task *task) { await((struct aim){.of = ONLY, .task = task}); }
void held_await_team(void) { await((struct aim){.of = TEAM}); }
void held_go_on(void) { await((struct aim){.of = NOTHING}); }

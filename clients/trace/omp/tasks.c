/* Tasks. */
#include "clients/trace/omp/tasks.h"

#include "clients/trace/mix.h"
#include "clients/trace/omp/team.h"

#include <errno.h>
#include <stdlib.h>

#define CHILDREN_MOST (16u * KEYS_MOST) /* that are waited for at once */

struct group {
    struct group *outer;
    struct ended { /* a task of it */
        struct ended *next;
        uint64_t id;
    } *_Atomic ended;
    _Atomic uint32_t made;
    _Atomic bool doubtful;
};

/* The end of a task was not recorded: whoever waits for it cannot say so. */
static _Atomic bool untold;

static uint64_t child(const struct frame *f, uint32_t n) { return mix(f->id, n + 1u); }
static uint64_t spawn_key(uint64_t task) { return mix(task, 1); }
static uint64_t end_key(uint64_t task) { return mix(task, 2); }

/* Tasks of a team that is cancelled may never run. */
static bool may_vanish(void)
{
    const struct member *m = member_now();
    return atomic_load_explicit(&untold, memory_order_relaxed) || (m && m->team->cancellable);
}

void tasks_untold(void) { atomic_store(&untold, true); }

/* ---- one task ---- */

void task_make(struct task *task, bool detached)
{
    struct frame *f = frame_here();
    struct member *m = member_now();
    *task = (struct task){.id = child(f, f->made++), .group = f->group};
    if (f->group)
        atomic_fetch_add(&f->group->made, 1);
    if (m)
        team_makes_tasks(m->team);
    if (!detached)
        return;
    f->doubtful = true;
    if (f->group)
        atomic_store(&f->group->doubtful, true);
    if (m)
        atomic_store(&m->team->doubtful, true);
}

void task_depends(struct task *task, const void *place, enum dependence how, bool unclear)
{
    struct frame *f = frame_here();
    if (unclear || may_vanish())
        task->doubtful = true;
    if (!f->depends)
        f->depends = depends_new();
    if (!depends_on(f->depends, place, how, task->id ? end_key(task->id) : 0, &task->before,
                    &task->before_count))
        task->doubtful = true;
}

void task_spawn(struct task *task, const void *site)
{
    int saved = errno;
    task->spawn = note_sent(EVENT_spawn, 0, spawn_key(task->id), site);
    errno = saved;
}

bool task_is_after(const struct task *task, const struct task *other)
{
    uint64_t end = end_key(other->id);
    uint32_t i = 0;
    while (i < task->before_count && task->before[i] != end)
        i++;
    return i < task->before_count;
}

/* After its spawn, which is named first, and the ends of those that it depends on. */
struct frame *task_run(struct task *task, struct frame *frame, const void *body)
{
    int saved = errno;
    barrier_late(member_now());
    struct frame *outer = frame_begin(frame, task->id, task->group);
    bool told = task->spawn.line;
    uint64_t alone = spawn_key(task->id), *keys = &alone;
    uint32_t count = told;
    bool doubtful = task->doubtful || !told;
    if (task->before_count && !may_vanish()) {
        keys = task->before; /* which has room for one more */
        count = task->before_count;
        keys[count] = keys[0];
        count += told;
        keys[0] = told ? alone : keys[0];
    }
    poet_takes_from(event_type(EVENT_run), task->spawn);
    note_receive(EVENT_run, 0, keys, count, doubtful ? POET_DOUBT_THREAD : 0, body);
    free(task->before);
    task->before = NULL;
    errno = saved;
    return outer;
}

static void tell_group(struct group *g, uint64_t id)
{
    struct ended *e = malloc(sizeof *e);
    if (!e) {
        atomic_store(&g->doubtful, true);
        return;
    }
    *e = (struct ended){atomic_load(&g->ended), id};
    while (!atomic_compare_exchange_weak(&g->ended, &e->next, e))
        ;
}

void task_ran(const struct task *task, struct frame *frame, struct frame *outer, const void *body)
{
    int saved = errno;
    if (!note_send(EVENT_ran, 0, end_key(task->id), body))
        tasks_untold();
    if (task->group)
        tell_group(task->group, task->id);
    frame_end(frame, outer);
    if (outer && outer->waits)
        note(outer->waits_by, outer->waits_for, 0, outer->waits_at);
    errno = saved;
}

/* ---- waiting for them ---- */

static void waited(uint64_t *keys, size_t count, bool doubtful, const void *site)
{
    bool tell = keys && !may_vanish();
    doubtful |= count && !tell;
    note_receive(EVENT_waited, 0, keys, tell ? count : 0, doubtful ? POET_DOUBT_THREAD : 0, site);
    free(keys);
}

bool taskwait_begin(const void *site)
{
    struct frame *f = frame_here();
    int saved = errno;
    if (f->made == f->awaited)
        return false;
    note(EVENT_taskwait, 0, 0, site);
    frame_waits(EVENT_taskwait, 0, site);
    errno = saved;
    return true;
}

void taskwait_end(const void *site)
{
    struct frame *f = frame_here();
    int saved = errno;
    uint32_t count = f->made - f->awaited;
    uint64_t *keys = count <= CHILDREN_MOST ? malloc(count * sizeof *keys) : NULL;
    for (uint32_t i = 0; keys && i < count; i++)
        keys[i] = end_key(child(f, f->awaited + i));
    f->awaited = f->made;
    frame_goes_on();
    waited(keys, count, f->doubtful, site);
    f->doubtful = false;
    depends_forget(f->depends);
    errno = saved;
}

bool taskwait_like(struct task *like)
{
    *like = (struct task){0};
    return frame_here()->made > frame_here()->awaited;
}

void taskwait_for_begin(const void *site)
{
    note(EVENT_taskwait, 0, 0, site);
    frame_waits(EVENT_taskwait, 0, site);
}

void taskwait_for_end(struct task *like, const void *site)
{
    int saved = errno;
    frame_goes_on();
    waited(like->before, like->before_count, like->doubtful, site);
    like->before = NULL;
    errno = saved;
}

/* ---- groups ---- */

void taskgroup_begin(void)
{
    struct frame *f = frame_here();
    int saved = errno;
    struct group *g = calloc(1, sizeof *g);
    errno = saved;
    if (g) {
        g->outer = f->group;
        f->group = g;
    } else {
        f->doubtful = true;
    }
}

bool taskgroup_waits(bool anyway, const void *site)
{
    struct frame *f = frame_here();
    int saved = errno;
    if (!f->group || !(anyway || atomic_load(&f->group->made)))
        return false;
    note(EVENT_taskgroup, 0, 0, site);
    frame_waits(EVENT_taskgroup, 0, site);
    errno = saved;
    return true;
}

static size_t empty(struct group *g, uint64_t *keys, size_t room)
{
    size_t count = 0;
    for (struct ended *e = atomic_load(&g->ended), *next; e; e = next) {
        next = e->next;
        if (count < room)
            keys[count] = end_key(e->id);
        count++;
        free(e);
    }
    return count;
}

void taskgroup_end(bool waits, const void *site)
{
    struct frame *f = frame_here();
    struct group *g = f->group;
    int saved = errno;
    if (!g)
        return;
    uint32_t made = atomic_load(&g->made);
    uint64_t *keys = waits && made <= CHILDREN_MOST ? malloc(made * sizeof *keys) : NULL;
    size_t ended = empty(g, keys, keys ? made : 0);
    bool doubtful = atomic_load(&g->doubtful) || ended != made || !keys;
    frame_goes_on();
    if (waits)
        waited(keys, keys ? ended : 0, doubtful, site);
    f->group = g->outer;
    free(g);
    errno = saved;
}

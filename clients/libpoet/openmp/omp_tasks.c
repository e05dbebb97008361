/* Tasks. */
#include "clients/libpoet/openmp/omp_tasks.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/openmp/team.h"

#include <errno.h>
#include <stdlib.h>

#define CHILDREN_MOST (16u * KEYS_MOST) /* that are waited for at once */

struct task_group {
    struct task_group *outer;
    struct ended_task { /* a task of it */
        struct ended_task *next;
        uint64_t id;
    } *_Atomic ended;
    _Atomic uint32_t made;
    _Atomic bool doubtful;
};

/* The end of a task was not recorded: waits for tasks are uncertain. */
static _Atomic bool omp_tasks_untraced;

static uint64_t omp_task_child_key(const struct task_frame *f, uint32_t n)
{
    return key_mix(f->id, n + 1u);
}
static uint64_t omp_task_spawn_key(uint64_t task) { return key_mix(task, 1); }
static uint64_t omp_task_end_key(uint64_t task) { return key_mix(task, 2); }

/* Tasks of a team that is cancelled may never run. */
static bool omp_task_may_vanish(void)
{
    const struct team_member *m = member_current();
    return atomic_load_explicit(&omp_tasks_untraced, memory_order_relaxed) ||
           (m && m->team->cancellable);
}

void omp_tasks_set_untraced(void) { atomic_store(&omp_tasks_untraced, true); }

/* ---- one task ---- */

void omp_task_make(struct omp_task *task, bool detached)
{
    struct task_frame *f = task_frame_current();
    struct team_member *m = member_current();
    *task = (struct omp_task){.id = omp_task_child_key(f, f->made++), .group = f->group};
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

void omp_task_depends(struct omp_task *task, const void *place, enum dependence how, bool unclear)
{
    struct task_frame *f = task_frame_current();
    if (unclear || omp_task_may_vanish())
        task->doubtful = true;
    if (!f->depends)
        f->depends = task_depends_new();
    if (!task_depends_add(f->depends, place, how, task->id ? omp_task_end_key(task->id) : 0,
                          &task->before, &task->before_count))
        task->doubtful = true;
}

void omp_task_spawn(struct omp_task *task, const void *site)
{
    int saved = errno;
    task->spawn = omp_event_record_sent(EVENT_spawn, 0, omp_task_spawn_key(task->id), site);
    errno = saved;
}

bool omp_task_is_after(const struct omp_task *task, const struct omp_task *other)
{
    uint64_t end = omp_task_end_key(other->id);
    uint32_t i = 0;
    while (i < task->before_count && task->before[i] != end)
        i++;
    return i < task->before_count;
}

/* After its spawn, which is named first, and the ends of those that it depends on. */
struct task_frame *omp_task_run_begin(struct omp_task *task, struct task_frame *frame,
                                      const void *body)
{
    int saved = errno;
    team_barrier_late(member_current());
    struct task_frame *outer = task_frame_begin(frame, task->id, task->group);
    bool traced = task->spawn.line;
    uint64_t alone = omp_task_spawn_key(task->id), *keys = &alone;
    uint32_t count = traced;
    bool doubtful = task->doubtful || !traced;
    if (task->before_count && !omp_task_may_vanish()) {
        keys = task->before; /* which has room for one more */
        count = task->before_count;
        keys[count] = keys[0];
        count += traced;
        keys[0] = traced ? alone : keys[0];
    }
    poet_replay_commit_sender(event_type(EVENT_run), task->spawn);
    event_record_receive(EVENT_run, 0, keys, count, doubtful ? POET_DOUBT_THREAD : 0, body);
    free(task->before);
    task->before = NULL;
    errno = saved;
    return outer;
}

static void omp_task_add_to_group(struct task_group *g, uint64_t id)
{
    struct ended_task *e = malloc(sizeof *e);
    if (!e) {
        atomic_store(&g->doubtful, true);
        return;
    }
    *e = (struct ended_task){atomic_load(&g->ended), id};
    while (!atomic_compare_exchange_weak(&g->ended, &e->next, e))
        ;
}

void omp_task_run_end(const struct omp_task *task, struct task_frame *frame,
                      struct task_frame *outer, const void *body)
{
    int saved = errno;
    if (!event_record_send(EVENT_ran, 0, omp_task_end_key(task->id), body))
        omp_tasks_set_untraced();
    if (task->group)
        omp_task_add_to_group(task->group, task->id);
    task_frame_end(frame, outer);
    if (outer && outer->waits)
        event_record(outer->waits_by, outer->waits_for, 0, outer->waits_at);
    errno = saved;
}

/* ---- waiting for them ---- */

static void omp_task_record_waited(uint64_t *keys, size_t count, bool doubtful, const void *site)
{
    bool tell = keys && !omp_task_may_vanish();
    doubtful |= count && !tell;
    event_record_receive(EVENT_waited, 0, keys, tell ? count : 0, doubtful ? POET_DOUBT_THREAD : 0,
                         site);
    free(keys);
}

bool taskwait_begin(const void *site)
{
    struct task_frame *f = task_frame_current();
    int saved = errno;
    if (f->made == f->awaited)
        return false;
    event_record(EVENT_taskwait, 0, 0, site);
    task_frame_wait_begin(EVENT_taskwait, 0, site);
    errno = saved;
    return true;
}

void taskwait_end(const void *site)
{
    struct task_frame *f = task_frame_current();
    int saved = errno;
    uint32_t count = f->made - f->awaited;
    uint64_t *keys = count <= CHILDREN_MOST ? malloc(count * sizeof *keys) : NULL;
    for (uint32_t i = 0; keys && i < count; i++)
        keys[i] = omp_task_end_key(omp_task_child_key(f, f->awaited + i));
    f->awaited = f->made;
    task_frame_wait_end();
    omp_task_record_waited(keys, count, f->doubtful, site);
    f->doubtful = false;
    task_depends_forget(f->depends);
    errno = saved;
}

bool taskwait_like(struct omp_task *like)
{
    *like = (struct omp_task){0};
    return task_frame_current()->made > task_frame_current()->awaited;
}

void taskwait_for_begin(const void *site)
{
    event_record(EVENT_taskwait, 0, 0, site);
    task_frame_wait_begin(EVENT_taskwait, 0, site);
}

void taskwait_for_end(struct omp_task *like, const void *site)
{
    int saved = errno;
    task_frame_wait_end();
    omp_task_record_waited(like->before, like->before_count, like->doubtful, site);
    like->before = NULL;
    errno = saved;
}

/* ---- groups ---- */

void taskgroup_begin(void)
{
    struct task_frame *f = task_frame_current();
    int saved = errno;
    struct task_group *g = calloc(1, sizeof *g);
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
    struct task_frame *f = task_frame_current();
    int saved = errno;
    if (!f->group || !(anyway || atomic_load(&f->group->made)))
        return false;
    event_record(EVENT_taskgroup, 0, 0, site);
    task_frame_wait_begin(EVENT_taskgroup, 0, site);
    errno = saved;
    return true;
}

static size_t omp_task_drain_group(struct task_group *g, uint64_t *keys, size_t room)
{
    size_t count = 0;
    for (struct ended_task *e = atomic_load(&g->ended), *next; e; e = next) {
        next = e->next;
        if (count < room)
            keys[count] = omp_task_end_key(e->id);
        count++;
        free(e);
    }
    return count;
}

void taskgroup_end(bool waits, const void *site)
{
    struct task_frame *f = task_frame_current();
    struct task_group *g = f->group;
    int saved = errno;
    if (!g)
        return;
    uint32_t made = atomic_load(&g->made);
    uint64_t *keys = waits && made <= CHILDREN_MOST ? malloc(made * sizeof *keys) : NULL;
    size_t ended = omp_task_drain_group(g, keys, keys ? made : 0);
    bool doubtful = atomic_load(&g->doubtful) || ended != made || !keys;
    task_frame_wait_end();
    if (waits)
        omp_task_record_waited(keys, keys ? ended : 0, doubtful, site);
    f->group = g->outer;
    free(g);
    errno = saved;
}

/* Tasks of programs compiled with gcc. libgomp copies a task's data, by the program's own function
 * or as bytes; libpoet-omp adds which task it is, and what it runs. In a replayed run the data are
 * copied here, and the task is held (task_replay.h); the thread that has the turn lets libgomp run
 * it immediately. */
#include "clients/libpoet/openmp/gomp.h"
#include "clients/libpoet/openmp/omp_tasks.h"
#include "clients/libpoet/openmp/ompt_tool.h"

#include "clients/libpoet/poet.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_OF_RUN 7u /* untied, final, mergeable */
#define FLAG_DEPENDS 8u
#define FLAG_DEFERRED (1u << 10) /* of a loop */
#define FLAG_NO_GROUP (1u << 11)
#define FLAG_REDUCES (1u << 12)
#define FLAG_DETACHED (1u << 13)

/* Data of a task, followed by its own. libgomp writes to the first words itself: for a task of a
 * loop where it begins and ends, for a detached one its event; it may read the third one. */
struct gomp_carried_task {
    uint64_t words[2];
    uintptr_t reductions;
    void (*body)(void *);
    void (*copy)(void *, void *);
    void *data;
    long size, align;
    size_t of_loop; /* size of the words that are written, in a loop */
    bool detached;
    unsigned flags;
    const void *site;
    /* copy for libgomp: the held task instead; NULL: none */
    struct held_task *held;
    struct omp_task task;
};

static long gomp_task_header_bytes(const struct gomp_carried_task *c)
{
    return ((long)sizeof *c + c->align - 1) & ~(c->align - 1);
}

static void *gomp_task_data(struct gomp_carried_task *c)
{
    return (char *)c + gomp_task_header_bytes(c);
}

/* Each copy of a loop is a task. */
static void gomp_task_copy(void *to, void *from)
{
    struct gomp_carried_task *t = to, *f = from;
    *t = *f;
    if (f->of_loop) {
        omp_task_make(&t->task, false);
        omp_task_spawn(&t->task, f->site);
    }
    if (f->detached && f->data)
        memcpy(f->data, f->words, sizeof(void *));
    if (f->copy)
        f->copy(gomp_task_data(t), f->data);
    else if (f->size > 0)
        memcpy(gomp_task_data(t), f->data, (size_t)f->size);
}

static void gomp_task_run(void *data)
{
    struct gomp_carried_task *c = data;
    struct task_frame frame;
    const void *body = (const void *)(uintptr_t)c->body;
    memcpy(gomp_task_data(c), c->words, c->of_loop);
    struct task_frame *outer = omp_task_run_begin(&c->task, &frame, body);
    c->body(gomp_task_data(c));
    omp_task_run_end(&c->task, &frame, outer, body);
}

static void gomp_task_init(struct gomp_carried_task *c, void (*body)(void *), void *data,
                           void (*copies)(void *, void *), long size, long align)
{
    *c = (struct gomp_carried_task){
        .body = body, .copy = copies, .data = data, .size = size, .align = align > 16 ? align : 16};
}

/* ---- dependences ---- */

/* Types in an object for depend(depobj): a location, and one of these. */
enum { OBJECT_IN = 1, OBJECT_MUTEX = 4, OBJECT_INOUTSET = 5 };

static void gomp_task_depend_by_object(struct omp_task *task, void *const *object)
{
    uintptr_t how = (uintptr_t)object[1];
    omp_task_depends(task, object[0],
                     how == OBJECT_IN      ? DEPEND_READS
                     : how <= OBJECT_MUTEX ? DEPEND_WRITES
                                           : DEPEND_IN_SET,
                     how > OBJECT_INOUTSET);
}

/* Two formats: count, number of written ones, locations; or 0, count, numbers of those that are
 * written, written exclusively, and read, locations, and then objects. */
static void gomp_task_add_depends(struct omp_task *task, void *const *list)
{
    uintptr_t count = (uintptr_t)list[0], written = (uintptr_t)list[1], read = count;
    void *const *places = list + 2;
    if (!count) {
        count = (uintptr_t)list[1];
        written = (uintptr_t)list[2] + (uintptr_t)list[3];
        read = written + (uintptr_t)list[4];
        places = list + 5;
    }
    for (uintptr_t i = 0; i < count; i++)
        if (i < read)
            omp_task_depends(task, places[i], i < written ? DEPEND_WRITES : DEPEND_READS, false);
        else
            gomp_task_depend_by_object(task, places[i]);
}

/* ---- held tasks ---- */

typedef void task_call(void (*)(void *), void *, void (*)(void *, void *), long, long, bool,
                       unsigned, void **, int, void *);

/* Located right before the carried data. */
static long gomp_task_held_bytes(const struct gomp_carried_task *c)
{
    return ((long)sizeof(struct held_task) + c->align - 1) & ~(c->align - 1);
}

static void gomp_task_call_held(struct held_task *held)
{
    struct gomp_carried_task *c =
        (struct gomp_carried_task *)((char *)held->task - offsetof(struct gomp_carried_task, task));
    task_call *call = (task_call *)(uintptr_t)omp_runtime_function(REAL_GOMP_task, c->site);
    call(gomp_task_run, c, NULL, 0, 1, false, c->flags & FLAGS_OF_RUN, NULL, 0, NULL);
}

/* Returns a copy of it, or NULL if there is no memory. */
static struct held_task *gomp_task_copy_to_held(struct gomp_carried_task *c)
{
    size_t bytes =
        (size_t)(gomp_task_held_bytes(c) + gomp_task_header_bytes(c) + c->size + c->align - 1);
    struct held_task *held = aligned_alloc((size_t)c->align, bytes & ~((size_t)c->align - 1));
    struct gomp_carried_task *own = held ? (void *)((char *)held + gomp_task_held_bytes(c)) : NULL;
    if (!held)
        return NULL;
    gomp_task_copy(own, c);
    *held = (struct held_task){.task = &own->task, .call = gomp_task_call_held};
    return held;
}

/* Copies a task of a loop: libgomp believes that it runs each immediately. */
static void gomp_task_copy_held(void *to, void *from)
{
    struct held_task *held = gomp_task_copy_to_held(from);
    if (!held)
        gomp_task_copy(to, from);
    ((struct gomp_carried_task *)to)->held = held;
}

static void gomp_task_hold(void *data)
{
    struct gomp_carried_task *c = data, *own;
    if (!c->held) {
        gomp_task_run(c);
        return;
    }
    own = (struct gomp_carried_task *)((char *)c->held->task -
                                       offsetof(struct gomp_carried_task, task));
    memcpy(own->words, c->words, sizeof own->words);
    if (task_replay_is_next(&own->task)) {
        gomp_task_run(own);
        free(c->held);
    } else {
        task_replay_add(c->held);
    }
}

/* ---- one task ---- */

/* Records a task, and holds it if `wanted`, unless it ran right here (*deferred is false then),
 * possibly after others that it depends on. Returns whether it is held. */
static bool gomp_task_is_held(struct gomp_carried_task *c, bool wanted, bool *deferred,
                              const void *site)
{
    omp_task_spawn(&c->task, site);
    bool holds = *deferred && wanted && !omp_runtime_in_final_task(site),
         here = holds && task_replay_any_is_next();
    struct held_task *held = holds && !here ? gomp_task_copy_to_held(c) : NULL;
    *deferred = *deferred && !here;
    if (held)
        task_replay_add(held);
    else
        task_replay_await_before(&c->task);
    return held != NULL;
}

/* LLVM's runtime reports such tasks itself, and schedules them freely. */
static void gomp_task_begin_llvm(const void *site)
{
    ompt_tool_begin_task(site);
    task_replay_release_team();
}

API task_call GOMP_task;
API void GOMP_task(void (*body)(void *), void *data, void (*copies)(void *, void *), long size,
                   long align, bool deferred, unsigned flags, void **depends, int priority,
                   void *detach)
{
    task_call *call = (task_call *)(uintptr_t)omp_runtime_function(REAL_GOMP_task, SITE);
    struct gomp_carried_task c;
    if (!call)
        return;
    if (!omp_event_key_high() || omp_runtime_is_llvm(SITE)) {
        gomp_task_begin_llvm(SITE);
        call(body, data, copies, size, align, deferred, flags, depends, priority, detach);
        ompt_tool_begin_task(NULL);
        return;
    }
    gomp_task_init(&c, body, data, copies, size, align);
    c.detached = flags & FLAG_DETACHED;
    c.flags = flags;
    c.site = SITE;
    omp_task_make(&c.task, c.detached);
    if (flags & FLAG_DEPENDS)
        gomp_task_add_depends(&c.task, depends);
    if (c.detached || c.task.doubtful)
        task_replay_release_team();
    if (!gomp_task_is_held(&c, task_replay_wanted(), &deferred, SITE))
        call(gomp_task_run, &c, gomp_task_copy, gomp_task_header_bytes(&c) + size, c.align,
             deferred, flags, depends, priority, detach);
}

/* ---- a loop of tasks ---- */

/* Returns the flags for libgomp: the group is begun here, unless it is one of reductions, and held
 * tasks are run here. */
static unsigned gomp_task_loop_begin(struct gomp_carried_task *c, unsigned flags,
                                     size_t number_bytes, const void *site)
{
    void (*start)(void) = REAL(GOMP_taskgroup_start, site, void, (void));
    c->of_loop = 2 * number_bytes;
    c->flags = flags;
    c->site = site;
    if (c->size >= (long)(sizeof c->words + sizeof c->reductions))
        memcpy(&c->reductions, (char *)c->data + sizeof c->words, sizeof c->reductions);
    if (flags & FLAG_REDUCES)
        task_replay_release_team();
    if (!(flags & FLAG_NO_GROUP))
        taskgroup_begin();
    if (flags & FLAG_REDUCES && !(flags & FLAG_NO_GROUP))
        taskgroup_waits(true, site);
    if (flags & (FLAG_NO_GROUP | FLAG_REDUCES) || !start)
        return flags;
    start();
    return flags | FLAG_NO_GROUP;
}

static void gomp_task_loop_end(unsigned flags, const void *site)
{
    void (*end)(void) = REAL(GOMP_taskgroup_end, site, void, (void));
    if (flags & FLAG_NO_GROUP)
        return;
    if (!(flags & FLAG_REDUCES)) {
        taskgroup_waits(true, site);
        task_replay_await_group();
    }
    if (!(flags & FLAG_REDUCES) && end)
        end();
    taskgroup_end(true, site);
}

static bool gomp_task_loop_is_held(unsigned flags, const void *site)
{
    return flags & FLAG_DEFERRED && task_replay_wanted() && !omp_runtime_in_final_task(site);
}

#define TASK_LOOP(name, number)                                                                    \
    typedef void name##_call(void (*)(void *), void *, void (*)(void *, void *), long, long,       \
                             unsigned, unsigned long, int, number, number, number);                \
    API name##_call name;                                                                          \
    API void name(void (*body)(void *), void *data, void (*copies)(void *, void *), long size,     \
                  long align, unsigned flags, unsigned long tasks, int priority, number start,     \
                  number end, number step)                                                         \
    {                                                                                              \
        name##_call *call = (name##_call *)(uintptr_t)omp_runtime_function(REAL_##name, SITE);     \
        struct gomp_carried_task c;                                                                \
        if (!call)                                                                                 \
            return;                                                                                \
        if (!omp_event_key_high() || omp_runtime_is_llvm(SITE) || sizeof(long) < 8) {              \
            gomp_task_begin_llvm(SITE);                                                            \
            call(body, data, copies, size, align, flags, tasks, priority, start, end, step);       \
            ompt_tool_begin_task(NULL);                                                            \
            return;                                                                                \
        }                                                                                          \
        gomp_task_init(&c, body, data, copies, size, align);                                       \
        unsigned given = gomp_task_loop_begin(&c, flags, sizeof start, SITE);                      \
        bool holds = gomp_task_loop_is_held(flags, SITE);                                          \
        call(holds ? gomp_task_hold : gomp_task_run, &c,                                           \
             holds ? gomp_task_copy_held : gomp_task_copy, gomp_task_header_bytes(&c) + size,      \
             c.align, holds ? given & ~FLAG_DEFERRED : given, tasks, priority, start, end, step);  \
        gomp_task_loop_end(flags, SITE);                                                           \
    }
TASK_LOOP(GOMP_taskloop, long)
TASK_LOOP(GOMP_taskloop_ull, unsigned long long)

/* ---- waiting for tasks ---- */

API void GOMP_taskwait(void);
API void GOMP_taskwait(void)
{
    void (*call)(void) = REAL(GOMP_taskwait, SITE, void, (void));
    bool waits = !omp_runtime_is_llvm(SITE) && taskwait_begin(SITE);
    if (waits)
        task_replay_await_children();
    if (call)
        call();
    if (waits)
        taskwait_end(SITE);
}

API void GOMP_taskwait_depend(void **depends);
API void GOMP_taskwait_depend(void **depends)
{
    void (*call)(void **) = REAL(GOMP_taskwait_depend, SITE, void, (void **));
    struct omp_task like;
    bool waits = omp_event_key_high() && !omp_runtime_is_llvm(SITE) && taskwait_like(&like);
    if (waits)
        gomp_task_add_depends(&like, depends);
    if (waits) {
        taskwait_for_begin(SITE);
        task_replay_await_before(&like);
    }
    if (call)
        call(depends);
    if (waits)
        taskwait_for_end(&like, SITE);
}

API void GOMP_taskgroup_start(void);
API void GOMP_taskgroup_start(void)
{
    void (*call)(void) = REAL(GOMP_taskgroup_start, SITE, void, (void));
    if (!omp_runtime_is_llvm(SITE))
        taskgroup_begin();
    if (call)
        call();
}

API void GOMP_taskgroup_end(void);
API void GOMP_taskgroup_end(void)
{
    void (*call)(void) = REAL(GOMP_taskgroup_end, SITE, void, (void));
    bool waits = !omp_runtime_is_llvm(SITE) && taskgroup_waits(false, SITE);
    if (waits)
        task_replay_await_group();
    if (call)
        call();
    if (!omp_runtime_is_llvm(SITE))
        taskgroup_end(waits, SITE);
}

/* ---- reductions by tasks ---- */

API void GOMP_taskgroup_reduction_register(uintptr_t *reductions);
API void GOMP_taskgroup_reduction_register(uintptr_t *reductions)
{
    void (*call)(uintptr_t *) = REAL(GOMP_taskgroup_reduction_register, SITE, void, (uintptr_t *));
    if (call)
        call(gomp_reduces(reductions));
}

API void GOMP_scope_start(uintptr_t *reductions);
API void GOMP_scope_start(uintptr_t *reductions)
{
    void (*call)(uintptr_t *) = REAL(GOMP_scope_start, SITE, void, (uintptr_t *));
    if (call)
        call(gomp_reduces(reductions));
}

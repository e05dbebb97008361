/* Tasks of programs that gcc compiled.  libgomp copies what a task is given, by the program's own function or as bytes;
 * we give it more: which task it is, and what it runs.  In a run that is repeated we copy it ourselves, and hold it (held.h); the
 * thread whose turn it is has libgomp run it at once. */
#include "clients/trace/omp/gomp.h"
#include "clients/trace/omp/tasks.h"
#include "clients/trace/omp/tool.h"

#include "clients/trace/poet.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_OF_RUN 7u /* untied, final, mergeable */
#define FLAG_DEPENDS 8u
#define FLAG_DEFERRED (1u << 10) /* of a loop */
#define FLAG_NO_GROUP (1u << 11)
#define FLAG_REDUCES (1u << 12)
#define FLAG_DETACHED (1u << 13)

/* What a task gets instead of its own data, which follow it.  libgomp writes to the first words itself: of a task of a
 * loop where it begins and ends, of a detached one its event; the third one it may read. */
struct carried {
    uint64_t words[2];
    uintptr_t reductions;
    void (*body)(void *);
    void (*copy)(void *, void *);
    void *data;
    long size, align;
    size_t of_loop; /* bytes of the words that are written, in a loop */
    bool detached;
    unsigned flags;
    const void *site;
    struct held *held; /* of a copy for libgomp: ours, which is held instead; NULL: there is none */
    struct task task;
};

static long header_bytes(const struct carried *c)
{
    return ((long)sizeof *c + c->align - 1) & ~(c->align - 1);
}

static void *data_of(struct carried *c) { return (char *)c + header_bytes(c); }

/* Of a loop every copy is a task. */
static void copy(void *to, void *from)
{
    struct carried *t = to, *f = from;
    *t = *f;
    if (f->of_loop) {
        task_make(&t->task, false);
        task_spawn(&t->task, f->site);
    }
    if (f->detached && f->data)
        memcpy(f->data, f->words, sizeof(void *));
    if (f->copy)
        f->copy(data_of(t), f->data);
    else if (f->size > 0)
        memcpy(data_of(t), f->data, (size_t)f->size);
}

static void run(void *data)
{
    struct carried *c = data;
    struct frame frame;
    const void *body = (const void *)(uintptr_t)c->body;
    memcpy(data_of(c), c->words, c->of_loop);
    struct frame *outer = task_run(&c->task, &frame, body);
    c->body(data_of(c));
    task_ran(&c->task, &frame, outer, body);
}

static void carry(struct carried *c, void (*body)(void *), void *data,
                  void (*copies)(void *, void *), long size, long align)
{
    *c = (struct carried){
        .body = body, .copy = copies, .data = data, .size = size, .align = align > 16 ? align : 16};
}

/* ---- what it depends on ---- */

/* How an object says it that was made for depend(depobj): a place, and one of these. */
enum { OBJECT_IN = 1, OBJECT_MUTEX = 4, OBJECT_INOUTSET = 5 };

static void depend_by_object(struct task *task, void *const *object)
{
    uintptr_t how = (uintptr_t)object[1];
    task_depends(task, object[0],
                 how == OBJECT_IN      ? DEPEND_READS
                 : how <= OBJECT_MUTEX ? DEPEND_WRITES
                                       : DEPEND_IN_SET,
                 how > OBJECT_INOUTSET);
}

/* Two forms: how many, how many of them are written, and the places; or 0, how many in all, how many are written,
 * written one at a time, and read, and the places, and then objects. */
static void depend(struct task *task, void *const *list)
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
            task_depends(task, places[i], i < written ? DEPEND_WRITES : DEPEND_READS, false);
        else
            depend_by_object(task, places[i]);
}

/* ---- held ---- */

typedef void task_call(void (*)(void *), void *, void (*)(void *, void *), long, long, bool,
                       unsigned, void **, int, void *);

/* Right before what is carried. */
static long held_bytes(const struct carried *c)
{
    return ((long)sizeof(struct held) + c->align - 1) & ~(c->align - 1);
}

static void call_held(struct held *held)
{
    struct carried *c = (struct carried *)((char *)held->task - offsetof(struct carried, task));
    task_call *call = (task_call *)(uintptr_t)real_call(REAL_GOMP_task, c->site);
    call(run, c, NULL, 0, 1, false, c->flags & FLAGS_OF_RUN, NULL, 0, NULL);
}

/* A copy of it; NULL: there is no memory. */
static struct held *keep(struct carried *c)
{
    size_t bytes = (size_t)(held_bytes(c) + header_bytes(c) + c->size + c->align - 1);
    struct held *held = aligned_alloc((size_t)c->align, bytes & ~((size_t)c->align - 1));
    struct carried *own = held ? (void *)((char *)held + held_bytes(c)) : NULL;
    if (!held)
        return NULL;
    copy(own, c);
    *held = (struct held){.task = &own->task, .call = call_held};
    return held;
}

/* Of a loop: libgomp runs each at once, as it believes. */
static void copy_held(void *to, void *from)
{
    struct held *held = keep(from);
    if (!held)
        copy(to, from);
    ((struct carried *)to)->held = held;
}

static void hold(void *data)
{
    struct carried *c = data, *own;
    if (!c->held) {
        run(c);
        return;
    }
    own = (struct carried *)((char *)c->held->task - offsetof(struct carried, task));
    memcpy(own->words, c->words, sizeof own->words);
    if (held_is_next(&own->task)) {
        run(own);
        free(c->held);
    } else {
        held_add(c->held);
    }
}

/* ---- one task ---- */

/* Told, and held, if it is `wanted`, unless it was run right here (*deferred is false, then), perhaps behind others that it is after.
 * Whether it is held. */
static bool is_held(struct carried *c, bool wanted, bool *deferred, const void *site)
{
    task_spawn(&c->task, site);
    bool holds = *deferred && wanted && !real_is_final(site), here = holds && held_any_is_next();
    struct held *held = holds && !here ? keep(c) : NULL;
    *deferred = *deferred && !here;
    if (held)
        held_add(held);
    else
        held_await_before(&c->task);
    return held != NULL;
}

/* LLVM's runtime tells of such tasks itself, and gives them out as it likes. */
static void begin_llvm(const void *site)
{
    tool_spawns(site);
    held_apart();
}

API task_call GOMP_task;
API void GOMP_task(void (*body)(void *), void *data, void (*copies)(void *, void *), long size,
                   long align, bool deferred, unsigned flags, void **depends, int priority,
                   void *detach)
{
    task_call *call = (task_call *)(uintptr_t)real_call(REAL_GOMP_task, SITE);
    struct carried c;
    if (!call)
        return;
    if (!events_high() || real_is_llvm(SITE)) {
        begin_llvm(SITE);
        call(body, data, copies, size, align, deferred, flags, depends, priority, detach);
        tool_spawns(NULL);
        return;
    }
    carry(&c, body, data, copies, size, align);
    c.detached = flags & FLAG_DETACHED;
    c.flags = flags;
    c.site = SITE;
    task_make(&c.task, c.detached);
    if (flags & FLAG_DEPENDS)
        depend(&c.task, depends);
    if (c.detached || c.task.doubtful)
        held_apart();
    if (!is_held(&c, held_wanted(), &deferred, SITE))
        call(run, &c, copy, header_bytes(&c) + size, c.align, deferred, flags, depends, priority,
             detach);
}

/* ---- a loop of tasks ---- */

/* Gives the flags for libgomp: we begin the group ourselves, unless it is one of reductions, and run what is to be run. */
static unsigned loop_begin(struct carried *c, unsigned flags, size_t number_bytes, const void *site)
{
    void (*start)(void) = REAL(GOMP_taskgroup_start, site, void, (void));
    c->of_loop = 2 * number_bytes;
    c->flags = flags;
    c->site = site;
    if (c->size >= (long)(sizeof c->words + sizeof c->reductions))
        memcpy(&c->reductions, (char *)c->data + sizeof c->words, sizeof c->reductions);
    if (flags & FLAG_REDUCES)
        held_apart();
    if (!(flags & FLAG_NO_GROUP))
        taskgroup_begin();
    if (flags & FLAG_REDUCES && !(flags & FLAG_NO_GROUP))
        taskgroup_waits(true, site);
    if (flags & (FLAG_NO_GROUP | FLAG_REDUCES) || !start)
        return flags;
    start();
    return flags | FLAG_NO_GROUP;
}

static void loop_end(unsigned flags, const void *site)
{
    void (*end)(void) = REAL(GOMP_taskgroup_end, site, void, (void));
    if (flags & FLAG_NO_GROUP)
        return;
    if (!(flags & FLAG_REDUCES)) {
        taskgroup_waits(true, site);
        held_await_group();
    }
    if (!(flags & FLAG_REDUCES) && end)
        end();
    taskgroup_end(true, site);
}

static bool loop_is_held(unsigned flags, const void *site)
{
    return flags & FLAG_DEFERRED && held_wanted() && !real_is_final(site);
}

#define TASK_LOOP(name, number)                                                                    \
    typedef void name##_call(void (*)(void *), void *, void (*)(void *, void *), long, long,       \
                             unsigned, unsigned long, int, number, number, number);                \
    API name##_call name;                                                                          \
    API void name(void (*body)(void *), void *data, void (*copies)(void *, void *), long size,     \
                  long align, unsigned flags, unsigned long tasks, int priority, number start,     \
                  number end, number step)                                                         \
    {                                                                                              \
        name##_call *call = (name##_call *)(uintptr_t)real_call(REAL_##name, SITE);                \
        struct carried c;                                                                          \
        if (!call)                                                                                 \
            return;                                                                                \
        if (!events_high() || real_is_llvm(SITE) || sizeof(long) < 8) {                            \
            begin_llvm(SITE);                                                                      \
            call(body, data, copies, size, align, flags, tasks, priority, start, end, step);       \
            tool_spawns(NULL);                                                                     \
            return;                                                                                \
        }                                                                                          \
        carry(&c, body, data, copies, size, align);                                                \
        unsigned given = loop_begin(&c, flags, sizeof start, SITE);                                \
        bool holds = loop_is_held(flags, SITE);                                                    \
        call(holds ? hold : run, &c, holds ? copy_held : copy, header_bytes(&c) + size, c.align,   \
             holds ? given & ~FLAG_DEFERRED : given, tasks, priority, start, end, step);           \
        loop_end(flags, SITE);                                                                     \
    }
TASK_LOOP(GOMP_taskloop, long)
TASK_LOOP(GOMP_taskloop_ull, unsigned long long)

/* ---- waiting for tasks ---- */

API void GOMP_taskwait(void);
API void GOMP_taskwait(void)
{
    void (*call)(void) = REAL(GOMP_taskwait, SITE, void, (void));
    bool waits = !real_is_llvm(SITE) && taskwait_begin(SITE);
    if (waits)
        held_await_children();
    if (call)
        call();
    if (waits)
        taskwait_end(SITE);
}

API void GOMP_taskwait_depend(void **depends);
API void GOMP_taskwait_depend(void **depends)
{
    void (*call)(void **) = REAL(GOMP_taskwait_depend, SITE, void, (void **));
    struct task like;
    bool waits = events_high() && !real_is_llvm(SITE) && taskwait_like(&like);
    if (waits)
        depend(&like, depends);
    if (waits) {
        taskwait_for_begin(SITE);
        held_await_before(&like);
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
    if (!real_is_llvm(SITE))
        taskgroup_begin();
    if (call)
        call();
}

API void GOMP_taskgroup_end(void);
API void GOMP_taskgroup_end(void)
{
    void (*call)(void) = REAL(GOMP_taskgroup_end, SITE, void, (void));
    bool waits = !real_is_llvm(SITE) && taskgroup_waits(false, SITE);
    if (waits)
        held_await_group();
    if (call)
        call();
    if (!real_is_llvm(SITE))
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

/* Tasks of programs that gcc compiled.  libgomp copies what a task is given, by the program's own function or as bytes;
 * we give it more: which task it is, and what it runs. */
#include "clients/trace/omp/gomp.h"
#include "clients/trace/omp/tasks.h"

#include "clients/trace/poet.h"

#include <stddef.h>
#include <string.h>

#define FLAG_DEPENDS 8u
#define FLAG_NO_GROUP (1u << 11)
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
        t->task.spawned_by = f->task.spawned_by;
        t->task.told = f->task.told;
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

/* ---- one task ---- */

typedef void task_call(void (*)(void *), void *, void (*)(void *, void *), long, long, bool,
                       unsigned, void **, int, void *);

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
        call(body, data, copies, size, align, deferred, flags, depends, priority, detach);
        return;
    }
    carry(&c, body, data, copies, size, align);
    c.detached = flags & FLAG_DETACHED;
    task_make(&c.task, c.detached);
    if (flags & FLAG_DEPENDS)
        depend(&c.task, depends);
    task_spawn(&c.task, SITE);
    call(run, &c, copy, header_bytes(&c) + size, c.align, deferred, flags, depends, priority,
         detach);
}

/* ---- a loop of tasks ---- */

static void loop_begin(struct carried *c, unsigned flags, size_t number_bytes, const void *site)
{
    if (!(flags & FLAG_NO_GROUP))
        taskgroup_begin();
    c->of_loop = 2 * number_bytes;
    if (c->size >= (long)(sizeof c->words + sizeof c->reductions))
        memcpy(&c->reductions, (char *)c->data + sizeof c->words, sizeof c->reductions);
    c->task.spawned_by = frame_unique();
    task_spawn(&c->task, site);
    if (!(flags & FLAG_NO_GROUP))
        taskgroup_waits(true, site);
}

static void loop_end(unsigned flags, const void *site)
{
    if (!(flags & FLAG_NO_GROUP))
        taskgroup_end(true, site);
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
            call(body, data, copies, size, align, flags, tasks, priority, start, end, step);       \
            return;                                                                                \
        }                                                                                          \
        carry(&c, body, data, copies, size, align);                                                \
        loop_begin(&c, flags, sizeof start, SITE);                                                 \
        call(run, &c, copy, header_bytes(&c) + size, c.align, flags, tasks, priority, start, end,  \
             step);                                                                                \
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
    if (waits)
        taskwait_for_begin(SITE);
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
    if (call)
        call();
    if (!real_is_llvm(SITE))
        taskgroup_end(waits, SITE);
}

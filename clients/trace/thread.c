/* Threads: what each holds, where it stands, and its birth and end. */
#define _GNU_SOURCE
#include "clients/trace/inside.h"
#include "wire/limits.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

_Atomic bool tracing;
_Atomic uint64_t unrecorded;

static __thread struct thread *self __attribute__((tls_model("initial-exec")));
static pthread_key_t end_key;
static _Atomic uint32_t next_line = 1;

/* ---- the pool of thread structures ---- */

static _Atomic bool pool_lock;
static struct thread *pool;

static struct thread *take(void)
{
    while (atomic_exchange_explicit(&pool_lock, true, memory_order_acquire))
        sched_yield();
    struct thread *t = pool;
    if (t)
        pool = t->next_free;
    atomic_store_explicit(&pool_lock, false, memory_order_release);
    if (!t) {
        t = arena_take(sizeof *t);
        if (!t)
            return NULL;
        *t = (struct thread){0};
    }
    struct hold *holds = t->holds;
    size_t room = t->hold_room;
    *t = (struct thread){.holds = holds, .hold_room = room};
    return t;
}

static void put_back(struct thread *t)
{
    while (atomic_exchange_explicit(&pool_lock, true, memory_order_acquire))
        sched_yield();
    t->next_free = pool;
    pool = t;
    atomic_store_explicit(&pool_lock, false, memory_order_release);
}

/* ---- who may record ---- */

struct thread *thread_self(void)
{
    struct thread *t = self;
    if (LIKELY(t != NULL))
        return t->dead || t->off_lines || !atomic_load_explicit(&tracing, memory_order_relaxed)
                   ? NULL
                   : t;
    return NULL;
}

struct thread *thread_recording(void)
{
    struct thread *t = thread_self();
    if (!t || t->off)
        return NULL;
    if (t->busy) {
        atomic_fetch_add_explicit(&unrecorded, 1, memory_order_relaxed);
        return NULL;
    }
    return t;
}

/* ---- holds ---- */

static bool stale(const struct hold *hold)
{
    return hold->object && hold->object->visit != hold->visit;
}

struct line *thread_place(struct thread *t)
{
    if (t->waiting)
        return &t->task->line;
    while (t->hold_count && stale(&t->holds[t->hold_count - 1]))
        t->hold_count--; /* another thread released or took it: mend the books */
    return t->hold_count ? t->holds[t->hold_count - 1].line : &t->task->line;
}

struct hold *thread_hold(struct thread *t, const struct object *object)
{
    for (size_t i = t->hold_count; i-- > 0;)
        if (t->holds[i].object == object)
            return stale(&t->holds[i]) ? NULL : &t->holds[i];
    return NULL;
}

struct hold *thread_push(struct thread *t, struct object *object, struct line *line)
{
    if (t->hold_count == t->hold_room) {
        size_t room = t->hold_room ? t->hold_room * 2 : 16;
        struct hold *more = arena_take(room * sizeof *more);
        if (!more)
            return NULL;
        if (t->hold_count)
            memcpy(more, t->holds, t->hold_count * sizeof *more);
        t->holds = more;
        t->hold_room = room;
    }
    struct hold *hold = &t->holds[t->hold_count++];
    *hold = (struct hold){
        .object = object, .line = line, .visit = object ? object->visit : 0, .depth = 1};
    return hold;
}

void thread_pop(struct thread *t, struct hold *hold)
{
    size_t i = (size_t)(hold - t->holds);
    memmove(hold, hold + 1, (t->hold_count - i - 1) * sizeof *hold);
    t->hold_count--;
}

/* ---- lines ---- */

uint32_t line_announce(struct thread *t, const char *kind, const char *name, const void *object,
                       uintptr_t entry, unsigned flags)
{
    uint32_t index = atomic_fetch_add_explicit(&next_line, 1, memory_order_relaxed);
    if (index >= LIMIT_LINES)
        return 0;
    uint8_t bytes[512 + LIMIT_TEXT_BYTES];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_u32(&body, index);
    put_u64(&body, instance);
    put_u64(&body, index);
    put_u8(&body, (uint8_t)flags);
    put_u64(&body, (uint64_t)(uintptr_t)object);
    put_u64(&body, entry);
    put_string(&body, kind);
    put_string(&body, name);
    return record_control(t, MESSAGE_LINE, &body) ? index : 0;
}

static void line_rename(struct thread *t, uint32_t line, const char *name)
{
    uint8_t bytes[64 + LIMIT_TEXT_BYTES];
    struct out body = {.data = bytes, .room = sizeof bytes};
    char cut[LIMIT_TEXT_BYTES];
    snprintf(cut, sizeof cut, "%s", name);
    put_u32(&body, line);
    put_string(&body, cut);
    t->busy = true;
    record_control(t, MESSAGE_NAME, &body);
    t->busy = false;
}

void poet_line_name(poet_line_t line, const char *name)
{
    struct thread *t = thread_recording();
    if (t && line && name)
        line_rename(t, line, name);
}

void poet_set_name(const char *name)
{
    struct thread *t = thread_recording();
    if (t && name)
        line_rename(t, atomic_load(&t->task->line.index), name);
}

/* ---- threads by id ---- */

/* The creator and the thread itself both come here.  Whoever is first, the thread has not yet run the
 * program's code: *id is valid and its own.  An entry left by a thread that is gone is overwritten. */
static void bind_id(struct task *task, const pthread_t *id)
{
    while (atomic_exchange_explicit(&task->binding, true, memory_order_acquire))
        sched_yield();
    if (!(atomic_fetch_or(&task->flags, TASK_BOUND) & TASK_BOUND)) {
        struct object *entry = object_get((void *)*id, OBJECT_TASK);
        if (entry)
            atomic_store(&entry->task, task);
    }
    atomic_store_explicit(&task->binding, false, memory_order_release);
}

static void bind_self(struct task *task)
{
    pthread_t id = pthread_self();
    bind_id(task, &id);
}

/* By now the id may be another thread's. */
static void unbind_id(struct task *task, pthread_t id)
{
    struct object *entry = object_find((void *)id, OBJECT_TASK);
    if (entry)
        atomic_compare_exchange_strong(&entry->task, &(struct task *){task}, NULL);
}

static struct task *task_of(pthread_t id)
{
    struct object *entry = object_find((void *)id, OBJECT_TASK);
    return entry ? atomic_load(&entry->task) : NULL;
}

/* ---- birth and end ---- */

static struct thread *begin(struct task *task)
{
    struct thread *t = take();
    if (!t)
        return NULL;
    t->task = task;
    if (!server_queue(t)) {
        put_back(t);
        return NULL;
    }
    t->queue->thread = atomic_load(&task->line.index);
    self = t;
    pthread_setspecific(end_key, t);
    return t;
}

static void task_close(struct thread *t, struct task *task, unsigned type, uintptr_t site)
{
    record_write(t, &(struct record){.shape = (uint16_t)type, .flags = SLOT_CLOSES,
                                     .a = &task->line, .take_a = 1, .site = site}, NULL);
}

static void finish(struct thread *t)
{
    struct task *task = t->task;
    bool recorded_here = atomic_load_explicit(&tracing, memory_order_relaxed) && !t->off_lines;
    if (recorded_here)
        task->end = record_event(t, TYPE_END, &task->line, 0, task->entry);
    bool closed = atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED;
    if (closed && recorded_here)
        task_close(t, task, TYPE_CLOSE, task->entry);
    t->dead = true;
    self = NULL;
    server_queue_done(t);
    if (closed) {
        unbind_id(task, pthread_self());
        task_release(task);
    }
    put_back(t);
}

/* ThreadSanitizer's own state of a thread is gone in the last round. */
#if defined(__SANITIZE_THREAD__)
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define LAST_ROUND PTHREAD_DESTRUCTOR_ITERATIONS
#endif

/* Runs in the rounds of thread-specific destructors; acts in the last one, so that
 * what the program's own destructors do is still seen. */
static void at_end(void *p)
{
    struct thread *t = p;
    if (++t->rounds < LAST_ROUND) {
        pthread_setspecific(end_key, t);
        return;
    }
    finish(t);
}

void thread_begin_main(void)
{
    pthread_key_create(&end_key, at_end);
    struct task *task = task_new(1);
    struct thread *t = task ? begin(task) : NULL;
    if (!t) {
        atomic_store(&tracing, false);
        return;
    }
    bind_self(task);
    uint32_t index = line_announce(t, "task", "main", (void *)pthread_self(), 0, 0);
    atomic_store(&task->line.index, index);
    t->queue->thread = index;
    task->entry = getauxval(AT_ENTRY);
    record_event(t, TYPE_START, &task->line, 0, task->entry);
}

void thread_end_main(void)
{
    struct thread *t = self;
    if (!t)
        return;
    atomic_fetch_or(&t->task->flags, TASK_DETACHED);
    finish(t);
}

void thread_after_fork(void)
{
    self = NULL; /* the queue belongs to the parent */
}

struct start {
    void *(*function)(void *);
    void *argument;
    struct task *task;
    struct start *next;
};
static _Atomic bool start_lock;
static struct start *start_pool;

static struct start *start_take(void)
{
    while (atomic_exchange_explicit(&start_lock, true, memory_order_acquire))
        sched_yield();
    struct start *start = start_pool;
    if (start)
        start_pool = start->next;
    atomic_store_explicit(&start_lock, false, memory_order_release);
    return start ? start : arena_take(sizeof *start);
}

static void start_put(struct start *start)
{
    while (atomic_exchange_explicit(&start_lock, true, memory_order_acquire))
        sched_yield();
    start->next = start_pool;
    start_pool = start;
    atomic_store_explicit(&start_lock, false, memory_order_release);
}

/* The id of a thread is known only once it runs. */
static void announce_object(struct thread *t, uint64_t object)
{
    uint8_t bytes[12];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_u32(&body, atomic_load(&t->task->line.index));
    put_u64(&body, object);
    t->busy = true;
    record_control(t, MESSAGE_OBJECT, &body);
    t->busy = false;
}

static void *run(void *p)
{
    struct start start = *(struct start *)p;
    start_put(p);
    bind_self(start.task);
    if (atomic_load_explicit(&tracing, memory_order_relaxed)) {
        struct thread *t = begin(start.task);
        if (t)
            announce_object(t, (uint64_t)pthread_self());
        if (t)
            record_event(t, TYPE_START, &start.task->line, 0, start.task->entry);
    }
    return start.function(start.argument);
}

static bool made_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

ENTRY(int, pthread_create,
      (pthread_t * id, const pthread_attr_t *attributes, void *(*function)(void *),
       void *argument),
      id, attributes, function, argument)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = t ? task_new(2) : NULL;
    struct start *start = task ? start_take() : NULL;
    if (!start)
        return real.create(id, attributes, function, argument);
    int saved = errno;
    t->busy = true;
    uint32_t index = line_announce(t, "task", "", NULL, (uintptr_t)function, LINE_FOLLOWS);
    t->busy = false;
    atomic_store(&task->line.index, index);
    task->entry = (uintptr_t)function;
    if (made_detached(attributes))
        atomic_store(&task->flags, TASK_DETACHED);
    record_event(t, TYPE_CREATE, &task->line, 0, site);
    note_recorded();
    *start = (struct start){.function = function, .argument = argument, .task = task};
    errno = saved;
    int result = real.create(id, attributes, run, start);
    saved = errno;
    if (result == 0) {
        bind_id(task, id);
    } else {
        task_close(t, task, TYPE_FAILED, site);
        task_release(task); /* a life that never was */
        start_put(start);
    }
    task_release(task);
    errno = saved;
    return result;
}

/* What a join that succeeded adds to the picture. */
static void joined(struct thread *t, pthread_t id, struct task *task, uintptr_t site)
{
    uint32_t line = task ? atomic_load(&task->line.index) : 0;
    if (t && task)
        record_write(t, &(struct record){.shape = TYPE_JOINED,
                                         .flags = task->end ? RELATION_ORDER : RELATION_NONE,
                                         .a = thread_place(t),
                                         .take_a = 1,
                                         .about = line,
                                         .site = site,
                                         .partner = {line, task->end}}, NULL);
    if (!task)
        return;
    if (t && task->end)
        task_close(t, task, TYPE_CLOSE, site);
    unbind_id(task, id);
    task_release(task);
}

static void leave_wait(void *t) { ((struct thread *)t)->waiting--; }

static void petition_join(struct thread *t, struct task *task, uintptr_t site)
{
    record_event(t, TYPE_JOIN, thread_place(t), task ? atomic_load(&task->line.index) : 0, site);
}

static int timed_join(pthread_t id, void **result, const struct timespec *deadline)
{
    return deadline ? real.timedjoin(id, result, deadline) : real.join(id, result);
}

static int join(uintptr_t site, pthread_t id, void **result, const struct timespec *deadline)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = task_of(id);
    if (!t) {
        int e = timed_join(id, result, deadline);
        if (e == 0 && task)
            joined(thread_recording(), id, task, site);
        return e;
    }
    int saved = errno, e;
    petition_join(t, task, site);
    t->waiting++;
    pthread_cleanup_push(leave_wait, t);
    errno = saved;
    e = timed_join(id, result, deadline);
    saved = errno;
    pthread_cleanup_pop(1);
    if (e == 0)
        joined(t, id, task, site);
    else
        record_event(t, TYPE_REFUSED_JOIN, thread_place(t), 0, site);
    errno = saved;
    return e;
}

ENTRY(int, pthread_join, (pthread_t id, void **result), id, result)
{
    return join(site, id, result, NULL);
}

ENTRY(int, pthread_timedjoin_np, (pthread_t id, void **result, const struct timespec *deadline),
      id, result, deadline)
{
    return join(site, id, result, deadline);
}

ENTRY(int, pthread_tryjoin_np, (pthread_t id, void **result), id, result)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = task_of(id);
    int e = real.tryjoin(id, result);
    if (e == 0) {
        int saved = errno;
        if (t)
            petition_join(t, task, site);
        joined(t ? t : thread_recording(), id, task, site);
        errno = saved;
    }
    return e;
}

ENTRY(int, pthread_detach, (pthread_t id), id)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = task_of(id);
    int saved = errno;
    if (t && task)
        record_event(t, TYPE_DETACH, thread_place(t), atomic_load(&task->line.index), site);
    if (task && (atomic_fetch_or(&task->flags, TASK_DETACHED) & TASK_ENDED)) {
        if (t && task->end)
            task_close(t, task, TYPE_CLOSE, site);
        unbind_id(task, id);
        task_release(task);
    }
    errno = saved;
    return real.detach(id);
}

ENTRY(int, pthread_setname_np, (pthread_t id, const char *name), id, name)
{
    real_find();
    int e = real.setname(id, name);
    struct thread *t = thread_recording();
    struct task *task = t ? task_of(id) : NULL;
    int saved = errno;
    if (e == 0 && task)
        line_rename(t, atomic_load(&task->line.index), name);
    errno = saved;
    (void)site;
    return e;
}

/* ---- on and off ---- */

void poet_trace_off(void)
{
    struct thread *t = thread_self();
    if (!t || t->off++)
        return;
    int saved = errno;
    while (t->hold_count) {
        struct line *top = thread_place(t);
        if (!t->hold_count)
            break;
        struct object *object = t->holds[--t->hold_count].object;
        if (object)
            object->held = false;
        record_write(t, &(struct record){.shape = SHAPE_LEAVE, .a = thread_place(t), .b = top,
                                         .take_a = 1, .take_b = 1}, NULL);
    }
    record_event(t, TYPE_OFF, &t->task->line, 0, SITE);
    errno = saved;
}

void poet_trace_on(void)
{
    struct thread *t = thread_self();
    if (!t || t->off == 0 || --t->off)
        return;
    int saved = errno;
    record_event(t, TYPE_ON, &t->task->line, 0, SITE);
    errno = saved;
}

#include "objects.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

POET_RUNTIME("ucpp");

/* ---- locks ---- */

static thread_local bool data_lock_held;

OUT_OF_LINE bool data_lock::acquire()
{
    if (data_lock_held)
        return false;
    data_lock_held = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lock.acquire();
    return true;
}

OUT_OF_LINE void data_lock::release()
{
    lock.release();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    data_lock_held = false;
}

/* ---- memory ----
 *
 * Not from malloc, which is uC++'s and reports what was not freed. Blocks are reused, and never
 * returned. */

void *memory_get(size_t bytes)
{
    enum { CHUNK_BYTES = 1 << 18 };
    static data_lock lock;
    static char *next, *end;
    bytes = (bytes + 15) & ~size_t(15);
    if (!lock.acquire())
        return nullptr;
    if (bytes > size_t(end - next)) {
        void *chunk =
            mmap(nullptr, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        next = chunk == MAP_FAILED ? nullptr : static_cast<char *>(chunk);
        end = next ? next + CHUNK_BYTES : nullptr;
    }
    void *memory = next;
    if (next)
        next += bytes;
    lock.release();
    return memory;
}

/* Blocks of one type; a free one begins with the address of the next. */
template <typename T> class block_list
{
    void *free;
    data_lock lock;

  public:
    T *get()
    {
        if (!lock.acquire())
            return nullptr;
        void *block = free;
        if (block)
            memcpy(&free, block, sizeof free);
        lock.release();
        if (!block)
            block = memory_get(sizeof(T));
        return block ? static_cast<T *>(memset(block, 0, sizeof(T))) : nullptr;
    }

    void put(T *block)
    {
        if (!lock.acquire()) /* the block is not used again */
            return;
        memcpy(static_cast<void *>(block), &free, sizeof free);
        free = block;
        lock.release();
    }
};

/* ---- objects by address ---- */

struct object_entry {
    object_entry *next;
    const void *address;
    object *of;
};

enum { BUCKET_BITS = 14 };

/* Readers take no lock, as each event has several: they notice by `version` whether the bucket
 * changed meanwhile. (Memory of entries is only used for entries.) */
static struct object_bucket {
    data_lock lock; /* of those that change it */
    unsigned version; /* odd: it is being changed */
    object_entry *first;
} buckets[1 << BUCKET_BITS];

static block_list<object> objects;
static block_list<object_entry> entries;
static block_list<visit> visits;
static block_list<raised_exception> raised_exceptions;

static object_bucket &bucket_of(const void *address)
{
    return buckets[(uintptr_t(address) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - BUCKET_BITS)];
}

static void bucket_set(object_entry *&link, object_entry *e)
{
    __atomic_store_n(&link, e, __ATOMIC_RELEASE);
}

/* Changes a bucket, unless the kernel thread holds a lock. */
class bucket_change
{
    object_bucket &bucket;

  public:
    const bool may;

    explicit bucket_change(object_bucket &bucket) : bucket(bucket), may(bucket.lock.acquire())
    {
        if (!may)
            return;
        __atomic_store_n(&bucket.version, bucket.version + 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);
    }
    ~bucket_change()
    {
        if (!may)
            return;
        __atomic_store_n(&bucket.version, bucket.version + 1, __ATOMIC_RELEASE);
        bucket.lock.release();
    }
};

static object *bucket_find(const object_bucket &bucket, const void *address, unsigned *most)
{
    const object_entry *e = __atomic_load_n(&bucket.first, __ATOMIC_ACQUIRE);
    while (e && __atomic_load_n(&e->address, __ATOMIC_RELAXED) != address && --*most)
        e = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE);
    return e && *most ? __atomic_load_n(&e->of, __ATOMIC_RELAXED) : nullptr;
}

/* Finds it while nothing changes. */
static OUT_OF_LINE object *bucket_find_locked(object_bucket &bucket, const void *address)
{
    if (!bucket.lock.acquire())
        return nullptr;
    unsigned most = UINT_MAX;
    object *o = bucket_find(bucket, address, &most);
    bucket.lock.release();
    return o;
}

object *object_find(const void *address)
{
    object_bucket &bucket = bucket_of(address);
    unsigned version = __atomic_load_n(&bucket.version, __ATOMIC_ACQUIRE), most = 64;
    object *o = bucket_find(bucket, address, &most);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    bool known = !(version & 1) && most &&
                 __atomic_load_n(&bucket.version, __ATOMIC_RELAXED) == version;
    return known ? o : bucket_find_locked(bucket, address);
}

static object_entry *bucket_take(object_bucket &bucket, const void *address)
{
    bucket_change change(bucket);
    if (!change.may)
        return nullptr;
    object_entry **at = &bucket.first;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    object_entry *e = *at;
    if (e)
        bucket_set(*at, e->next);
    return e;
}

static void object_remove(const void *address)
{
    object_entry *e = bucket_take(bucket_of(address), address);
    if (e)
        entries.put(e);
}

void object_add(const void *address, object *o)
{
    object_remove(address); /* of an object whose end was not seen */
    object_entry *e = entries.get();
    if (!e)
        return;
    object_bucket &bucket = bucket_of(address);
    bucket_change change(bucket);
    if (!change.may)
        return;
    e->address = address;
    e->of = o;
    e->next = bucket.first;
    bucket_set(bucket.first, e);
}

object *object_new(object_kind kind, const void *address, const void *site)
{
    object *o = objects.get();
    if (!o)
        return nullptr;
    o->kind = kind;
    o->address = address;
    o->made_at = o->site = site;
    object_add(address, o);
    return o;
}

static void object_put(object *o)
{
    while (visit *v = o->free_visits) {
        o->free_visits = v->outer;
        visits.put(v);
    }
    objects.put(o);
}

/* Each stack keeps its free visits. */
bool visit_begin(object *stack, object *in, const void *member)
{
    visit *v = stack->free_visits ? stack->free_visits : visits.get();
    if (!v)
        return false;
    stack->free_visits = v->outer;
    v->outer = stack->innermost;
    v->in = in;
    v->member = member;
    stack->innermost = v;
    __atomic_fetch_add(&in->visited, 2, __ATOMIC_RELAXED);
    return true;
}

void visit_end(object *stack)
{
    visit *v = stack->innermost;
    object *in = v->in;
    stack->innermost = v->outer;
    v->outer = stack->free_visits;
    stack->free_visits = v;
    if (__atomic_sub_fetch(&in->visited, 2, __ATOMIC_ACQ_REL) == 1)
        object_put(in);
}

raised_exception *raised_exception_new() { return raised_exceptions.get(); }
void raised_exception_free(raised_exception *raised) { raised_exceptions.put(raised); }

/* (Not inlined: after a call that may switch tasks, thread-local data are at another address.) */
static OUT_OF_LINE uBaseTask *running_task() { return &uThisTask(); }

/* ---- events ---- */

static poet_type_t event_code(event_type type)
{
#define EVENT_NAME_OF(type, name) name,
    static const char *const names[TYPES] = {EVENT_TYPES(EVENT_NAME_OF)};
    static const char *const increases[] = {"increased", nullptr};
    static poet_type_t codes[TYPES];
    poet_type_t code = __atomic_load_n(&codes[type], __ATOMIC_RELAXED);
    if (!code) {
        code = poet_type(names[type], type == LOWERED ? increases : nullptr);
        __atomic_store_n(&codes[type], code, __ATOMIC_RELAXED);
    }
    return code;
}

void mark(object *self, poet_line_t line, event_type type, const void *site, const object *about,
          unsigned flags, poet_event_t after)
{
    if (!line) /* it could not be opened, which is reported; 0 would be where the thread is */
        return;
    poet_line_t object = about ? about->line : 0;
    if (after.line) {
        poet_record_t r = {};
        r.line = line;
        r.about = object;
        r.type = event_code(type);
        r.flags = flags | POET_AFTER;
        r.site = site;
        r.high = after.line;
        r.low = &after.number;
        r.keys = 1;
        self->last = poet_record(&r);
    } else {
        self->last = poet_event_at(line, event_code(type), object, flags, site);
    }
    if (type != RAISE)
        self->deletes_at = type == DELETE ? site : nullptr;
}

void pair(object *self, poet_line_t a, event_type type_a, poet_line_t b, event_type type_b,
          const void *site)
{
    if (!a || !b)
        return;
    self->last = poet_pair_at(a, event_code(type_a), b, event_code(type_b), nullptr, site);
    self->deletes_at = nullptr;
}

void mark_violation(object *self, poet_line_t line, const void *site, const char *rule,
                    const object *about)
{
    mark(self, line, VIOLATION, site, about);
    poet_annotate(self->last, "%s", rule);
}

/* ---- turns in a replay ---- */

const bool turns_are_kept = getenv("POET_REPLAY") != nullptr;

static uint64_t turn_clock_ms()
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now); /* (not the program's clock) */
    return uint64_t(now.tv_sec) * 1000 + uint64_t(now.tv_nsec) / 1000000;
}

static bool turn_has_come(poet_line_t line, event_type type)
{
    section s;
    return !s.self || poet_replay_is_turn(line, event_code(type));
}

/* (The thread itself waits only if that is late: then the replay finds out whose turn it is.) */
static void turn_wait(poet_line_t line, event_type type)
{
    uint64_t limit_ms = 0;
    while (!turn_has_come(line, type)) {
        if (!limit_ms) {
            section s;
            limit_ms = turn_clock_ms() + poet_replay_timeout_ms();
        }
        if (turn_clock_ms() > limit_ms) {
            section s;
            poet_replay_wait_turn(line, event_code(type));
            return;
        }
        running_task()->uYieldNoPoll();
    }
}

void turn_await(poet_line_t line, event_type type)
{
    if (turns_are_kept && line)
        turn_wait(line, type);
}

bool turn_has_other(event_type type)
{
    if (!turns_are_kept)
        return false;
    section s;
    return s.self && poet_replay_next_is(event_code(type), 1) == 0;
}

/* ---- lines ---- */

void object_open(object *o, object *self)
{
    static const char *const kinds[] = {
        "monitor", "task", "coroutine", "coroutine-monitor", "lock", "condition lock", "semaphore"};
    if (o->line)
        return;
    if (o->kind == TASK)
        o->line = poet_task_at("task", o->name, o->address, o->site);
    else
        o->line = poet_line_at(kinds[o->kind], o->name, o->address,
                               o->kind == SEMAPHORE ? POET_SHARED : 0, o->site);
    if (o->kind == TASK && !self) { /* made by a task of the kernel: the task itself tells */
        poet_task_switch(o->line);
        mark(o, o->line, CREATE, o->made_at);
        poet_task_switch(0);
    } else if (o->kind <= COROUTINE_MONITOR) {
        mark(self, o->line, CREATE, o->made_at);
    }
}

object *object_of_lock(const void *address, object_kind kind, object *self, const void *site,
                       const char *name)
{
    object *o = object_find(address);
    if (!o) {
        o = object_new(kind, address, site);
        if (o)
            o->name = name;
    }
    if (o)
        object_open(o, self);
    return o;
}

object *object_of_mutex(const void *mutex, object *self)
{
    object *o = object_find(mutex);
    if (o)
        object_open(o, self);
    return o;
}

static object *newest_early;
static data_lock early_lock;

void object_add_early(object *o)
{
    if (!early_lock.acquire())
        return;
    o->next_early = newest_early;
    newest_early = o;
    early_lock.release();
}

void object_free(object *o, const void *mutex)
{
    if (!early_lock.acquire())
        return;
    object **at = &newest_early;
    while (*at && *at != o)
        at = &(*at)->next_early;
    if (*at)
        *at = o->next_early;
    early_lock.release();
    object_remove(o->address);
    if (mutex)
        object_remove(mutex);
    if (__atomic_or_fetch(&o->visited, 1, __ATOMIC_ACQ_REL) == 1) /* else the last visit does it */
        object_put(o);
}

/* Those of the library, such as buffers of files, are opened when they are used. */
static bool object_is_of_library(const object *o)
{
    return o->of_class && name_is_of_library(o->of_class);
}

void object_open_early(object *self)
{
    if (!early_lock.acquire())
        return;
    object *o = newest_early, *first = nullptr;
    newest_early = nullptr;
    early_lock.release();
    while (o) {
        object *older = o->next_early;
        o->next_early = first;
        first = o;
        o = older;
    }
    for (o = first; o; o = o->next_early)
        if (object_find(o->address) == o && !object_is_of_library(o))
            object_open(o, self);
}

/* ---- the running task ---- */

OUT_OF_LINE unsliced::unsliced() { uKernelModule::uKernelModuleData::disableInterrupts(); }
OUT_OF_LINE unsliced::~unsliced() { uKernelModule::uKernelModuleData::enableInterrupts(); }

section::section(const void *constructing) : task(running_task()), self(object_find(task))
{
    if (self && self->waits_for_io)
        self = nullptr;
    object *pending = self ? self->pending : nullptr;
    if (!pending)
        return;
    self->pending = nullptr;
    if (pending->address != constructing)
        object_open(pending, self);
}

object *section::stack() const
{
    const uBaseCoroutine *coroutine = &task->getCoroutine();
    object *o = coroutine == task ? self : object_find(coroutine);
    return o ? o : self;
}

const char *object_class(const void *address)
{
    unsliced part;
    const object *o = object_find(address);
    return o ? o->of_class : nullptr;
}

void object_forget_pending(const void *mutex)
{
    section s(mutex);
    object *o = object_find(mutex);
    if (o && !o->line)
        object_free(o, mutex);
}

/* Synchronization objects of glibc (2.25 and later, x86-64), read from memory: what the futex at
 * which a thread sleeps belongs to, and the owner that glibc stores in it. The layouts are those of
 * bits/pthreadtypes-arch.h and bits/struct_mutex.h, struct_rwlock.h. */
#define _GNU_SOURCE
#include "clients/snapshot/wait_for_graph.h"

#include "clients/snapshot/thread_stack.h"
#include "wire/os_usage.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#define WORD_OF_JOIN 720u /* offset of the thread number in struct pthread */
#define OWNER_MASK FUTEX_TID_MASK

/* Bits of the kind of a mutex: */
enum { MUTEX_ROBUST = 16, MUTEX_INHERITS = 32, MUTEX_SHARED = 128 };

/* ---- names ---- */

static const struct {
    const char *letter, *word, *type, *verb;
} kinds[WAIT_KIND_COUNT] = {
#define A(NAME, letter, word, type, verb) [WAIT_##NAME] = {letter, word, type, verb},
    WAIT_KINDS(A)
#undef A
};

const char *wait_kind_letter(enum wait_kind kind) { return kinds[kind].letter; }
const char *wait_kind_word(enum wait_kind kind) { return kinds[kind].word; }
const char *wait_kind_type(enum wait_kind kind) { return kinds[kind].type; }
const char *wait_kind_verb(enum wait_kind kind) { return kinds[kind].verb; }

const char *wait_kind_mode(enum wait_kind kind)
{
    return kind == WAIT_RWLOCK_READ    ? " for reading"
           : kind == WAIT_RWLOCK_WRITE ? " for writing"
                                       : "";
}

static const struct {
    const char *function;
    enum wait_kind kind;
} functions[] = {{"pthread_mutex_", WAIT_MUTEX},
                 {"mtx_lock", WAIT_MUTEX},
                 {"mtx_timedlock", WAIT_MUTEX},
                 {"pthread_rwlock_rdlock", WAIT_RWLOCK_READ},
                 {"pthread_rwlock_timedrdlock", WAIT_RWLOCK_READ},
                 {"pthread_rwlock_clockrdlock", WAIT_RWLOCK_READ},
                 {"pthread_rwlock_wrlock", WAIT_RWLOCK_WRITE},
                 {"pthread_rwlock_timedwrlock", WAIT_RWLOCK_WRITE},
                 {"pthread_rwlock_clockwrlock", WAIT_RWLOCK_WRITE},
                 {"pthread_cond_destroy", WAIT_CONDITION_IN_USE},
                 {"pthread_cond_", WAIT_CONDITION},
                 {"cnd_destroy", WAIT_CONDITION_IN_USE},
                 {"cnd_wait", WAIT_CONDITION},
                 {"cnd_timedwait", WAIT_CONDITION},
                 {"sem_wait", WAIT_SEMAPHORE},
                 {"sem_timedwait", WAIT_SEMAPHORE},
                 {"sem_clockwait", WAIT_SEMAPHORE},
                 {"new_sem_wait", WAIT_SEMAPHORE},
                 {"pthread_barrier_wait", WAIT_BARRIER},
                 {"pthread_once", WAIT_ONCE},
                 {"call_once", WAIT_ONCE},
                 {"cxa_guard_acquire", WAIT_ONCE},
                 {"pthread_join", WAIT_JOIN},
                 {"pthread_timedjoin_np", WAIT_JOIN},
                 {"pthread_clockjoin", WAIT_JOIN},
                 {"thrd_join", WAIT_JOIN},
                 {"std::__atomic_futex_unsigned_base::", WAIT_FUTURE}};

enum wait_kind glibc_object_kind(const char *function)
{
    function += strspn(function, "_");
    function += strncmp(function, "GI_", 3) == 0 ? 3 + strspn(function + 3, "_") : 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strncmp(function, functions[i].function, strlen(functions[i].function)) == 0)
            return functions[i].kind;
    return WAIT_NONE;
}

/* Returns what the innermost frame of the runtime libraries that has such a name waits for. */
static enum wait_kind object_kind_by_stack(const struct thread_stack *stack,
                                           struct symbolizer *sites, uint32_t *frame)
{
    uint32_t first = runtime_frames_count(stack, sites);
    for (*frame = 0; *frame < first; (*frame)++) {
        struct symbol_location at = symbolize_outer(sites, 0, stack->frames[*frame].address);
        enum wait_kind kind = glibc_object_kind(at.function);
        if (kind)
            return kind;
    }
    return WAIT_NONE;
}

int64_t glibc_object_call(const struct snapshot_thread *t, const struct thread_stack *stack,
                          struct symbolizer *sites)
{
    uint32_t frame;
    if (t->call.number != SYS_restart_syscall || !stack->count)
        return t->call.number;
    const char *function = symbolize_outer(sites, 0, stack->frames[0].address).function;
    if (strstr(function, "nanosleep"))
        return SYS_clock_nanosleep;
    if (strstr(function, "poll"))
        return SYS_ppoll;
    return object_kind_by_stack(stack, sites, &frame) ? SYS_futex : t->call.number;
}

/* ---- objects ---- */

/* Where the words are: */
enum { MUTEX_OWNER = 8, MUTEX_USERS = 12, MUTEX_KIND = 16 };
enum { RW_READERS = 0, RW_PHASE = 8, RW_WRITERS = 12, RW_OWNER = 24, RW_SHARED = 28 };
enum { RW_WRITE_LOCKED = 2, RW_COUNT_SHIFT = 3, RW_FUTEX_VALUES = 4 };
enum { CONDITION_USERS = 36, CONDITION_SIGNALS = 40 };
enum { BARRIER_ROUND = 4, BARRIER_TOTAL = 8 };

static uint32_t object_word(const struct snapshot *s, uint64_t address)
{
    uint32_t value = 0;
    snapshot_read_u32(s, address, &value);
    return value;
}

static void object_read_mutex(const struct snapshot *s, struct glibc_object *o)
{
    uint32_t kind = object_word(s, o->address + MUTEX_KIND);
    o->owner = object_word(s, o->address + MUTEX_OWNER);
    if (kind & (MUTEX_ROBUST | MUTEX_INHERITS))
        o->owner = object_word(s, o->address) & OWNER_MASK;
    o->robust = kind & MUTEX_ROBUST;
    o->shared = kind & MUTEX_SHARED;
}

/* Returns whether a register of the function that waits, or of one below, points to an address. */
static bool object_is_used(const struct thread_stack *stack, uint32_t frame, uint64_t address)
{
    for (uint32_t i = 0; i <= frame && i < stack->count; i++)
        for (unsigned r = 0; r < REGISTER_COUNT; r++)
            if (stack->frames[i].known >> r & 1 && stack->frames[i].registers[r] == address)
                return true;
    return false;
}

/* A reader waits for the end of a write phase, or at the readers' word where writers are preferred;
 * a writer for the end of a read phase, or for another writer. */
static void object_read_rwlock(const struct snapshot *s, const struct thread_stack *stack,
                               uint32_t frame, uint64_t word, uint32_t value,
                               struct glibc_object *o)
{
    bool other = o->kind == WAIT_RWLOCK_READ ? value >= RW_FUTEX_VALUES
                                             : !object_is_used(stack, frame, word - RW_PHASE);
    o->address = !other                        ? word - RW_PHASE
                 : o->kind == WAIT_RWLOCK_READ ? word - RW_READERS
                                               : word - RW_WRITERS;
    uint32_t readers = object_word(s, o->address + RW_READERS);
    o->owner = object_word(s, o->address + RW_OWNER);
    o->shared = object_word(s, o->address + RW_SHARED) != 0;
    o->count = o->owner ? 0 : readers >> RW_COUNT_SHIFT;
}

static void object_read_barrier(const struct snapshot *s, struct glibc_object *o)
{
    o->total = object_word(s, o->address + BARRIER_TOTAL);
    o->count = object_word(s, o->address) - object_word(s, o->address + BARRIER_ROUND);
}

static void object_read(const struct snapshot *s, const struct snapshot_thread *t,
                        const struct thread_stack *stack, uint32_t frame, struct glibc_object *o)
{
    uint64_t word = t->call.arguments[0];
    uint32_t value = (uint32_t)t->call.arguments[2];
    o->address = word;
    if (o->kind == WAIT_MUTEX) {
        object_read_mutex(s, o);
    } else if (o->kind == WAIT_RWLOCK_READ || o->kind == WAIT_RWLOCK_WRITE) {
        object_read_rwlock(s, stack, frame, word, value, o);
    } else if (o->kind == WAIT_CONDITION) {
        o->address = word - CONDITION_SIGNALS - (word & 4);
    } else if (o->kind == WAIT_CONDITION_IN_USE) {
        o->address = word - CONDITION_USERS;
    } else if (o->kind == WAIT_BARRIER) {
        o->address = word - BARRIER_ROUND;
        object_read_barrier(s, o);
    } else if (o->kind == WAIT_SEMAPHORE) {
        o->count = object_word(s, word);
    } else if (o->kind == WAIT_JOIN) {
        o->address = o->owner = value;
    } else if (o->kind == WAIT_STREAM_LOCK) {
        uint64_t owner = 0;
        snapshot_read_u64(s, word + MUTEX_OWNER, &owner);
        o->owner = snapshot_thread_at(s, owner)->inner_tid;
    }
}

bool glibc_object_runs_once(const struct snapshot *s, const struct thread_stack *stack,
                            struct symbolizer *sites, uint64_t address)
{
    for (uint32_t i = runtime_frames_count(stack, sites); i + 1 < stack->count; i++) {
        const struct stack_frame *frame = &stack->frames[i], *caller = frame + 1;
        uint64_t value = 0, from = frame->stack, to = caller->stack;
        if (glibc_object_kind(symbolize_outer(sites, 0, frame->address).function) != WAIT_ONCE)
            continue;
        for (unsigned r = 0; r < REGISTER_COUNT; r++)
            if (frame->known >> r & 1 && frame->registers[r] == address)
                return true;
        for (; from && from + sizeof value <= to && snapshot_read_u64(s, from, &value);
             from += sizeof value)
            if (value == address)
                return true;
    }
    return false;
}

/* ---- recognition ---- */

/* Returns whether a word is followed by the number of threads that sleep at it. */
static bool object_counts_waiters(const struct snapshot *s, uint64_t word)
{
    uint32_t count, threads = 0;
    for (size_t i = 0; i < s->thread_count; i++)
        threads +=
            s->threads[i].call.number == SYS_futex && s->threads[i].call.arguments[0] == word;
    return snapshot_read_u32(s, word + 4, &count) && count == threads;
}

/* Returns what a futex is if its functions have no known name: a mutex if its owner is a thread,
 * the lock of a stdio stream, the number of another thread, a semaphore with its number of waiters.
 */
static enum wait_kind object_kind_by_content(const struct snapshot *s,
                                             const struct snapshot_thread *t)
{
    uint64_t word = t->call.arguments[0], pointer = 0;
    uint32_t value = (uint32_t)t->call.arguments[2], owner = 0, users = 0;
    bool waits = (t->call.arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    const struct snapshot_thread *joined = snapshot_thread_of(s, value);
    if (joined && joined->registers.thread_pointer + WORD_OF_JOIN == word)
        return WAIT_JOIN;
    if (!waits && !value && object_counts_waiters(s, word))
        return WAIT_SEMAPHORE;
    if (!waits || value != 2 || !snapshot_read_u32(s, word + MUTEX_OWNER, &owner) ||
        !snapshot_read_u32(s, word + MUTEX_USERS, &users))
        return WAIT_FUTEX;
    snapshot_read_u64(s, word + MUTEX_OWNER, &pointer);
    if (snapshot_thread_at(s, pointer))
        return WAIT_STREAM_LOCK;
    return users == 1 && snapshot_thread_of(s, owner) ? WAIT_MUTEX : WAIT_FUTEX;
}

/* Returns whether glibc is mapped. */
static bool object_has_glibc(const struct snapshot *s)
{
    for (size_t i = 0; i < s->mapping_count; i++)
        if (strstr(s->mappings[i].path, "/libc.so.6"))
            return true;
    return false;
}

/* Returns whether glibc's number of a thread, in the memory at its thread pointer, is the kernel's:
 * else its owners mean nothing. If the pointer is unknown, returns whether glibc is mapped. */
static bool glibc_object_is_known(const struct snapshot *s, const struct snapshot_thread *t)
{
    uint32_t number;
    if (!t->registers.thread_pointer)
        return object_has_glibc(s);
    return snapshot_read_u32(s, t->registers.thread_pointer + WORD_OF_JOIN, &number) &&
           number == t->inner_tid;
}

static bool object_is_of_loader(const struct snapshot *s, uint64_t address)
{
    const struct snapshot_mapping *m = snapshot_mapping_at(s, address);
    const char *file = m ? strrchr(m->path, '/') : NULL;
    return file && strncmp(file, "/ld", 3) == 0;
}

struct glibc_object glibc_object_of(const struct snapshot *s, const struct snapshot_thread *t,
                                    const struct thread_stack *stack, struct symbolizer *sites)
{
    struct glibc_object o = {.kind = WAIT_NONE};
    uint32_t frame = 0, now;
    uint64_t command = t->call.arguments[1] & FUTEX_CMD_MASK, word = t->call.arguments[0];
    if (t->call.number != SYS_futex || command == FUTEX_WAKE)
        return o;
    bool known = glibc_object_is_known(s, t), waits = command == FUTEX_WAIT;
    o.kind = object_kind_by_stack(stack, sites, &frame);
    o.by_content = !o.kind;
    /* A condition variable takes its mutex again. */
    if (o.kind == WAIT_CONDITION && waits && (uint32_t)t->call.arguments[2] == 2)
        o.kind = WAIT_MUTEX;
    if (!o.kind && known)
        o.kind = object_kind_by_content(s, t);
    if (!o.kind || (!known && o.kind != WAIT_FUTURE))
        o.kind = WAIT_FUTEX;
    o.of_loader = object_is_of_loader(s, word);
    o.timed = t->call.arguments[3] != 0;
    o.awake = (waits || command == FUTEX_WAIT_BITSET) && snapshot_read_u32(s, word, &now) &&
              now != (uint32_t)t->call.arguments[2];
    /* What a library or the program does with a futex of its own: store, and then wake. */
    o.changed = o.awake && t->unstopped && (o.kind == WAIT_FUTEX || o.kind == WAIT_FUTURE);
    o.awake &= !o.changed;
    object_read(s, t, stack, frame, &o);
    return o;
}

/* Synchronization objects that several processes share, in mapped files or by name: each is one
 * line, and all processes take its numbers from one counter (wire/shared_counters.h). Its identity
 * is the location of its memory on this machine (device, inode and offset, from /proc/self/maps)
 * and the lifetime of the object there, since an initialization makes another one. */
#define _GNU_SOURCE
#include "clients/libpoet/core/shared_objects.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/poet.h"
#include "wire/program_messages.h"
#include "wire/shared_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MACHINE_KEY 0x706f65742e6d6163u

static struct shared_counter *counters; /* NULL: the server provided none */

static _Atomic uint64_t *shared_object_counter(uint64_t key);

/* The first process sets the common number of all of them, from its own random number. */
static uint64_t shared_object_agree_machine(uint64_t random)
{
    _Atomic uint64_t *name = counters ? shared_object_counter(MACHINE_KEY) : NULL;
    uint64_t none = 0;
    if (!name)
        return 0;
    return atomic_compare_exchange_strong(name, &none, random | 1) ? random | 1 : none;
}

void shared_object_begin(int fd, uint64_t random)
{
    struct stat st;
    counters = NULL; /* those of an earlier lifetime stay mapped: a thread may be counting */
    tracer.process.machine = 0;
    if (fd < 0)
        return;
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    void *p = seals >= 0 && (seals & needed) == needed && fstat(fd, &st) == 0 &&
                      (uint64_t)st.st_size >= COUNTERS_BYTES
                  ? mmap(NULL, COUNTERS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                  : MAP_FAILED;
    counters = p == MAP_FAILED ? NULL : p;
    tracer.process.machine = shared_object_agree_machine(random);
    close(fd);
}

/* Returns whether the program allowed other processes to use it. */
static bool may_be_shared(const void *address, enum sync_object_kind kind)
{
    switch (kind) {
    case SYNC_SPIN_LOCK: /* has no such attribute */
        return true;
#ifdef __GLIBC__
    case SYNC_MUTEX:
        return (((const pthread_mutex_t *)address)->__data.__kind & 128) != 0;
    case SYNC_RWLOCK:
        return ((const pthread_rwlock_t *)address)->__data.__shared != 0;
    case SYNC_CONDITION:
        return (((const pthread_cond_t *)address)->__data.__wrefs & 1) != 0;
    case SYNC_SEMAPHORE: /* after the value, whether it is private; see glibc's struct new_sem */
        return ((const int *)address)[sizeof(long) / sizeof(int) == 2 ? 2 : 1] != 0;
    case SYNC_BARRIER: /* after the arrivals, now and as the round began, and the threads of each */
        return ((const int *)address)[3] != 0;
#endif
    default:
        return false;
    }
}

struct shared_place {
    unsigned long long start, end, offset, inode;
    unsigned major, minor;
    char permissions[8];
    char path[sizeof UNNAMED_MEMORY + 1]; /* its beginning */
};

static bool shared_object_read_place(const char *line, struct shared_place *p)
{
    int path = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &p->start, &p->end, p->permissions,
               &p->offset, &p->major, &p->minor, &p->inode, &path) != 7)
        return false;
    snprintf(p->path, sizeof p->path, "%s", path ? line + path : "");
    return true;
}

/* Finds the shared mapping that contains an address. Reads line by line, without stdio, which
 * locks; the beginning of a line that is longer than the buffer (because of a path) is
 * sufficient. */
static bool shared_object_find_place(uintptr_t address, struct shared_place *p)
{
    char text[512];
    size_t size = 0;
    bool found = false, skip = false; /* the rest of a line, as its beginning is read */
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && !found && (n = read(fd, text + size, sizeof text - 1 - size)) > 0;) {
        size += (size_t)n;
        text[size] = 0;
        char *line = text, *end;
        for (; !found && ((end = strchr(line, '\n')) != NULL || size == sizeof text - 1);
             line = end + 1) {
            bool whole = end != NULL;
            if (!whole && line != text)
                break;
            end = whole ? end : text + size - 1;
            *end = 0;
            found = !skip && shared_object_read_place(line, p) && address >= p->start &&
                    address < p->end;
            skip = !whole;
            if (!whole) {
                line = text + size;
                break;
            }
        }
        size -= (size_t)(line - text);
        memmove(text, line, size);
    }
    if (fd >= 0)
        close(fd);
    return found && p->permissions[3] == 's' && p->inode;
}

static uint64_t shared_object_mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

static _Atomic uint64_t *shared_object_counter(uint64_t key)
{
    for (uint64_t i = 0; i < COUNTERS; i++) {
        struct shared_counter *c = &counters[(key + i) % COUNTERS];
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&c->key, &there, key) || there == key)
            return &c->number;
    }
    return NULL;
}

static _Atomic uint64_t *shared_object_counter_if_any(uint64_t key)
{
    for (uint64_t i = 0; i < COUNTERS; i++) {
        struct shared_counter *c = &counters[(key + i) % COUNTERS];
        uint64_t there = atomic_load(&c->key);
        if (there == 0 || there == key)
            return there ? &c->number : NULL;
    }
    return NULL;
}

uint64_t *poet_counter(uint64_t key, int make)
{
    key = shared_object_mix(shared_object_mix(2, key), key >> 32);
    key += key == 0;
    if (!counters)
        return NULL;
    return (uint64_t *)(uintptr_t)(make ? shared_object_counter(key)
                                        : shared_object_counter_if_any(key));
}

uint64_t poet_host_id(void) { return tracer.process.machine; }

/* Returns the key of its location, the same in all processes of the run; 0: in memory of this
 * process only.  *reach: which processes can use it, LINE_ flags. */
static uint64_t shared_object_make_key(const void *address, enum sync_object_kind kind,
                                       uint8_t *reach)
{
    struct shared_place p;
    int saved = errno, cancelling;
    uint64_t key = 0;
    *reach = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    if (shared_object_find_place((uintptr_t)address, &p)) {
        key = shared_object_mix(
            shared_object_mix(shared_object_mix(shared_object_mix(1 ^ tracer.process.machine,
                                                                  p.major << 16 ^ p.minor),
                                                p.inode),
                              p.offset + ((uintptr_t)address - p.start)),
            kind);
        key += key == 0;
        *reach = strcmp(p.path, UNNAMED_MEMORY) == 0 ? LINE_INHERITED_MEMORY : LINE_NAMED_MEMORY;
    }
    pthread_setcancelstate(cancelling, NULL);
    errno = saved;
    return key;
}

/* Begins a new lifetime; the last one that can be counted does not end. */
static void shared_object_begin_lifetime(uint64_t key, _Atomic uint64_t *counter)
{
    uint64_t word = atomic_load(counter);
    uint64_t *agreed = poet_counter(shared_object_mix(key, SHARED_MUTEX), false);
    if (agreed) /* on a mutex: by users of a condition variable that was there before */
        __atomic_store_n(agreed, 0, __ATOMIC_SEQ_CST);
    while (
        COUNTER_LIFETIME(word) + 1 < COUNTER_LIFETIMES &&
        !atomic_compare_exchange_weak(counter, &word, COUNTER_BEGINS(COUNTER_LIFETIME(word) + 1)))
        ;
}

/* ---- memory that is unmapped ---- */

/* All that have had a counter; none is removed. */
static struct sync_object *_Atomic shared_object_first;

static void shared_object_list(struct sync_object *o)
{
    if (o->in_shared)
        return;
    o->in_shared = true;
    o->next_shared = atomic_load(&shared_object_first);
    while (!atomic_compare_exchange_weak(&shared_object_first, &o->next_shared, o))
        ;
}

#if !defined(POET_STATIC)
/* Memory was unmapped: another file may be mapped there next, so its objects are looked up again.
 * No lifetime has this value. */
static void shared_object_unmapped(uintptr_t from, size_t bytes)
{
    struct sync_object *o = atomic_load_explicit(&shared_object_first, memory_order_acquire);
    for (; o; o = o->next_shared)
        if ((uintptr_t)o->address - from < bytes)
            atomic_store(&o->line.lifetime, UINT32_MAX);
}

__attribute__((visibility("default"))) int(munmap)(void *address, size_t bytes);
__attribute__((visibility("default"))) int(munmap)(void *address, size_t bytes)
{
    real_find();
    shared_object_unmapped((uintptr_t)address, bytes);
    return LIKELY(real_functions.unmap) ? real_functions.unmap(address, bytes)
                                        : (int)syscall(SYS_munmap, address, bytes);
}
#endif

uint64_t shared_object_key(struct sync_object *o, struct shared_memory *memory)
{
    bool begins = o->begins;
    *memory = (struct shared_memory){0};
    o->begins = false;
    /* of another lifetime, or of a previous object at this address */
    atomic_store(&o->line.remote, NULL);
    if (!may_be_shared(o->address, o->kind))
        return 0;
    if (!seccomp_allows(ALLOWED_FILES)) {
        *memory = (struct shared_memory){.unknown = counters && o->kind != SYNC_BARRIER,
                                         .reach = LINE_NAMED_MEMORY};
        return 0;
    }
    uint64_t key = shared_object_make_key(o->address, o->kind, &memory->reach);
    if (!counters || o->kind == SYNC_BARRIER)
        return 0;
    _Atomic uint64_t *remote = key ? shared_object_counter(key) : NULL;
    memory->unknown = key && !remote; /* no counter is left */
    if (!remote)
        return 0;
    shared_object_list(o);
    if (begins)
        shared_object_begin_lifetime(key, remote);
    uint32_t lifetime = COUNTER_LIFETIME(atomic_load(remote));
    atomic_store(&o->line.lifetime, lifetime);
    atomic_store(&o->line.remote, remote);
    key = shared_object_mix(key, lifetime);
    return key + (key == 0);
}

void shared_object_initialized(const void *address, enum sync_object_kind kind)
{
    bool asks = counters && kind != SYNC_SPIN_LOCK && kind != SYNC_BARRIER &&
                may_be_shared(address, kind) && seccomp_allows(ALLOWED_FILES);
    uint8_t reach;
    uint64_t key = asks ? shared_object_make_key(address, kind, &reach) : 0;
    _Atomic uint64_t *counter = key ? shared_object_counter(key) : NULL;
    if (counter)
        shared_object_begin_lifetime(key, counter);
}

/* Returns the key of its location. */
static uint64_t shared_object_get_place(const struct trace_line *line)
{
    const _Atomic uint64_t *remote = atomic_load_explicit(&line->remote, memory_order_relaxed);
    if (!remote)
        return 0;
    uintptr_t counter = (uintptr_t)remote - offsetof(struct shared_counter, number);
    return atomic_load(&((const struct shared_counter *)counter)->key);
}

uint64_t shared_object_id(const struct trace_line *line)
{
    uint64_t place = shared_object_get_place(line);
    return place ? shared_object_mix(place,
                                     atomic_load_explicit(&line->lifetime, memory_order_relaxed)) |
                       1
                 : 0;
}

_Atomic uint64_t *shared_object_note_counter(const struct trace_line *line, enum shared_note what)
{
    uint64_t place = shared_object_get_place(line);
    void *count = place ? poet_counter(shared_object_mix(place, what), true) : NULL;
    return count;
}

void shared_object_find(struct sync_object *o)
{
    struct shared_memory memory;
    latch_lock(&o->opening);
    if (!atomic_load(&o->line.index) && !atomic_load(&o->line.remote))
        shared_object_key(o, &memory);
    latch_unlock(&o->opening);
}

#define _GNU_SOURCE
#include "clients/libpoet/profile/user_metrics.h"

#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/profile/region_owner.h"
#include "wire/metric_messages.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- names, told to the server ---- */

void metric_name_send(uint32_t code, unsigned kind, const char *name, const char *unit)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 16 + 2 * MESSAGE_LABEL_BYTES];
    struct encoder out = {.data = message, .room = sizeof message};
    uint32_t life = atomic_load(&tracer.lifetime.number);
    if (!life || tracer.server.needs_socket)
        return;
    encoder_begin_message(&out, MESSAGE_METRIC);
    encode_metric(&out, &(struct metric_message){
                            code, (uint8_t)kind, message_text_limit(name, MESSAGE_LABEL_BYTES - 1),
                            message_text_limit(unit, MESSAGE_LABEL_BYTES - 1)});
    encoder_end_message(&out);
    server_send(&out, life);
}

/* ---- shared cells: numbers that the program stores to, in memory that the server samples ---- */

struct cell_name {
    const char *name, *unit;
};

static latch sampled_cells_latch;
static char *_Atomic sampled_cells_memory; /* WATCH_MAP_BYTES; NULL: there is none yet */
static struct cell_name *sampled_cells_names; /* of WATCH_CELLS */
static _Atomic uint32_t sampled_cells_count;
static bool sampled_cells_full; /* which was reported */
static _Alignas(64) int64_t sampled_cells_nobodys;

static void sampled_cells_send(int fd)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 4];
    struct encoder out = {.data = message, .room = sizeof message};
    uint32_t life = atomic_load(&tracer.lifetime.number);
    if (!life || fd < 0 || tracer.server.needs_socket)
        return;
    encoder_begin_message(&out, MESSAGE_SAMPLED_CELLS);
    encode_u32(&out, WATCH_VERSION);
    encoder_end_message(&out);
    server_send_with(&out, fd, life);
}

static void *sampled_cells_map(int fd, void *at)
{
    void *p = mmap(at, WATCH_MAP_BYTES, PROT_READ | PROT_WRITE,
                   fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0)
                          : MAP_SHARED | (at ? MAP_FIXED : 0),
                   fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Maps memory at the address of the old one, with its content; fd -1: private memory. */
static void sampled_cells_send_name(char *at, int fd)
{
    char *new = sampled_cells_map(fd, NULL);
    if (!new)
        return;
    memcpy(new, at, WATCH_MAP_BYTES);
    if (mremap(new, WATCH_MAP_BYTES, WATCH_MAP_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
        MAP_FAILED)
        munmap(new, WATCH_MAP_BYTES);
}

/* Another server gets memory of its own. */
static void sampled_cells_announce(void)
{
    char *at = atomic_load(&sampled_cells_memory);
    int fd = at ? queue_memory(WATCH_MAP_BYTES) : -1;
    if (fd < 0)
        return;
    sampled_cells_send_name(at, fd);
    sampled_cells_send(fd);
    close(fd);
    for (uint32_t i = 0; i < atomic_load(&sampled_cells_count); i++)
        metric_name_send(METRIC_WATCHED_CODES + i, METRIC_WATCHED, sampled_cells_names[i].name,
                         sampled_cells_names[i].unit);
}

static void sampled_cells_forked(void)
{
    latch_reset(&sampled_cells_latch);
    if (atomic_load(&sampled_cells_memory))
        sampled_cells_send_name(atomic_load(&sampled_cells_memory), -1);
}

static bool sampled_cells_have_memory(void)
{
    if (atomic_load(&sampled_cells_memory))
        return true;
    if (!sampled_cells_names)
        sampled_cells_names = tracer_arena_alloc(WATCH_CELLS * sizeof *sampled_cells_names);
    int fd = sampled_cells_names ? queue_memory(WATCH_MAP_BYTES) : -1;
    if (fd < 0)
        return false;
    atomic_store(&sampled_cells_memory, sampled_cells_map(fd, NULL));
    if (atomic_load(&sampled_cells_memory))
        sampled_cells_send(fd);
    close(fd);
    return atomic_load(&sampled_cells_memory) != NULL;
}

static char *sampled_cells_copy_label(const char *text)
{
    return tracer_arena_copy(text, strnlen(text, MESSAGE_LABEL_BYTES - 1));
}

static int64_t *sampled_cells_get(uint32_t i)
{
    return (int64_t *)(void *)(atomic_load(&sampled_cells_memory) + (size_t)i * WATCH_CELL_BYTES);
}

static int64_t *sampled_cells_create(const char *name, const char *unit)
{
    uint32_t i = atomic_load(&sampled_cells_count);
    struct cell_name kept = {i < WATCH_CELLS ? sampled_cells_copy_label(name) : NULL,
                             sampled_cells_copy_label(unit)};
    if (!kept.name || !kept.unit) {
        if (!sampled_cells_full)
            stderr_log_print("poet_watch: %.80s: too many watched variables; not sampled", name);
        sampled_cells_full = true;
        return &sampled_cells_nobodys;
    }
    sampled_cells_names[i] = kept;
    atomic_store(&sampled_cells_count, i + 1);
    metric_name_send(METRIC_WATCHED_CODES + i, METRIC_WATCHED, kept.name, kept.unit);
    return sampled_cells_get(i);
}

static bool sampled_cells_is_sampled(void)
{
    return atomic_load(&tracer.lifetime.number) && !tracer.server.needs_socket &&
           measurement_wanted_initial() & WANTED_METERS;
}

static int64_t *sampled_cells_find_or_create(const char *name, const char *unit)
{
    for (uint32_t i = 0; i < atomic_load(&sampled_cells_count); i++)
        if (strncmp(sampled_cells_names[i].name, name, MESSAGE_LABEL_BYTES - 1) == 0)
            return sampled_cells_get(i);
    return sampled_cells_is_sampled() && sampled_cells_have_memory()
               ? sampled_cells_create(name, unit)
               : &sampled_cells_nobodys;
}

int64_t *poet_watch(const char *name, const char *unit)
{
    struct traced_thread *t = thread_self();
    if (!name)
        return &sampled_cells_nobodys;
    int saved = errno;
    if (t)
        busy_begin(t);
    latch_lock(&sampled_cells_latch);
    int64_t *cell = sampled_cells_find_or_create(name, unit ? unit : "");
    latch_unlock(&sampled_cells_latch);
    if (t)
        busy_end(t);
    errno = saved;
    return cell;
}

/* ---- metrics: named once, and then counted by each thread in the cells of its region ---- */

struct user_metric {
    struct user_metric *next;
    uint32_t code;
    unsigned kind;
    const char *unit;
    char name[];
};

static latch user_metric_latch;
static struct user_metric *_Atomic user_metrics; /* newest first; never removed */
static uint32_t user_metric_next_code = 1;
static uint8_t user_metric_kinds[REGION_CELLS]; /* by code */
static _Atomic bool user_metrics_traced; /* a server was found, once */
static bool user_metrics_full; /* which was reported */

void user_metrics_announce(void)
{
    atomic_store(&user_metrics_traced, !tracer.server.needs_socket);
    for (const struct user_metric *m = atomic_load(&user_metrics); m; m = m->next)
        metric_name_send(m->code, m->kind, m->name, m->unit);
    sampled_cells_announce();
}

void user_metrics_forked(void)
{
    latch_reset(&user_metric_latch);
    sampled_cells_forked();
}

static const struct user_metric *user_metric_find(const char *name)
{
    const struct user_metric *m = atomic_load(&user_metrics);
    while (m && strncmp(m->name, name, MESSAGE_LABEL_BYTES - 1) != 0)
        m = m->next;
    return m;
}

static const struct user_metric *user_metric_create(const char *name, const char *unit,
                                                    unsigned kind)
{
    uint32_t cells = kind == METRIC_DISTRIBUTION ? METRIC_CELLS : 1;
    size_t name_bytes = strnlen(name, MESSAGE_LABEL_BYTES - 1),
           unit_bytes = strnlen(unit, MESSAGE_LABEL_BYTES - 1);
    struct user_metric *m = user_metric_next_code + cells <= REGION_CELLS
                                ? tracer_arena_alloc(sizeof *m + name_bytes + unit_bytes + 2)
                                : NULL;
    if (!m) {
        if (!user_metrics_full)
            stderr_log_print("poet_meter: %.80s: too many metrics; not counted", name);
        user_metrics_full = true;
        return NULL;
    }
    m->unit = m->name + name_bytes + 1;
    memcpy(m->name, name, name_bytes);
    memcpy(m->name + name_bytes + 1, unit, unit_bytes);
    m->code = user_metric_next_code;
    m->kind = kind;
    m->next = atomic_load(&user_metrics);
    user_metric_kinds[m->code] = (uint8_t)kind;
    user_metric_next_code += cells;
    atomic_store(&user_metrics, m);
    return m;
}

poet_meter_t poet_meter(const char *name, const char *unit, unsigned kind)
{
    if (!name || kind < POET_COUNT || kind > POET_DISTRIBUTION ||
        !atomic_load(&user_metrics_traced))
        return 0;
    int saved = errno;
    struct traced_thread *t = thread_self();
    if (t)
        busy_begin(t);
    latch_lock(&user_metric_latch);
    const struct user_metric *m = user_metric_find(name);
    bool known = m != NULL;
    if (!m)
        m = user_metric_create(name, unit ? unit : "", kind);
    latch_unlock(&user_metric_latch);
    if (m && !known)
        metric_name_send(m->code, m->kind, m->name, m->unit);
    if (t)
        busy_end(t);
    errno = saved;
    return m ? m->code : 0;
}

/* ---- counting ---- */

static inline struct profile_region_cell *user_metric_cells(const struct thread_profile *m)
{
    return (struct profile_region_cell *)(void *)((char *)m->head + REGION_CELLS_AT);
}

/* Called when a thread counts in a metric for the first time. The kind is written last: a reader
 * that sees it sees the rest, too. */
static struct profile_region_cell *user_metric_begin(const struct thread_profile *m, uint32_t meter,
                                                     unsigned kind)
{
    struct profile_region_cell *cell = &user_metric_cells(m)[meter];
    uint32_t end = meter + (kind == METRIC_DISTRIBUTION ? METRIC_CELLS : 1);
    atomic_store_explicit(&cell->least, INT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&cell->most, INT64_MIN, memory_order_relaxed);
    if (atomic_load_explicit(&m->head->cells, memory_order_relaxed) < end)
        atomic_store_explicit(&m->head->cells, end, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    m->head->kinds[meter] = (uint8_t)kind;
    return cell;
}

static __attribute__((noinline)) struct profile_region_cell *
user_metric_cell_slow(poet_meter_t meter, unsigned kind)
{
    if (!meter || meter >= REGION_CELLS || user_metric_kinds[meter] != kind)
        return NULL;
    struct traced_thread *t = thread_self();
    if (!t) /* a child that begins to be recorded, or a thread of a library */
        t = thread_recording();
    if (!t || !t->queue ||
        !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_METERS))
        return NULL;
    const struct thread_profile *m = t->profile ? t->profile : instrument_first_call(t);
    if (!m)
        return NULL;
    return m->head->kinds[meter] == kind ? &user_metric_cells(m)[meter]
                                         : user_metric_begin(m, meter, kind);
}

/* Returns the calling thread's cell if it has counted in it before; NULL: it must be looked up. */
static inline __attribute__((always_inline)) struct profile_region_cell *
user_metric_cell_ready(poet_meter_t meter, unsigned kind)
{
    const struct traced_thread *t = thread_mine;
    if (UNLIKELY(!t || !t->profile || !t->queue || meter >= REGION_CELLS ||
                 t->profile->head->kinds[meter] != kind ||
                 !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_METERS)))
        return NULL;
    return &user_metric_cells(t->profile)[meter];
}

static inline void user_metric_add_to_cell(_Atomic int64_t *sum, int64_t n)
{
    sum_add((_Atomic uint64_t *)(uintptr_t)sum, (uint64_t)n);
}

static inline void user_metric_note_value(struct profile_region_cell *c, int64_t value)
{
    if (UNLIKELY(value < atomic_load_explicit(&c->least, memory_order_relaxed)))
        atomic_store_explicit(&c->least, value, memory_order_relaxed);
    if (UNLIKELY(value > atomic_load_explicit(&c->most, memory_order_relaxed)))
        atomic_store_explicit(&c->most, value, memory_order_relaxed);
    atomic_store_explicit(&c->last, value, memory_order_relaxed);
    user_metric_add_to_cell(&c->sum, value);
    sum_add(&c->count, 1);
}

static inline void user_metric_count_value(struct profile_region_cell *c, int64_t n)
{
    user_metric_add_to_cell(&c->sum, n);
    sum_add(&c->count, 1);
}

static inline unsigned user_metric_bucket(int64_t value)
{
    unsigned bucket = value < 1 ? 0 : 64u - (unsigned)__builtin_clzll((unsigned long long)value);
    return bucket < METRIC_BUCKETS ? bucket : METRIC_BUCKETS - 1;
}

static inline void user_metric_note_size(struct profile_region_cell *c, int64_t value)
{
    _Atomic uint64_t *buckets = (void *)((char *)c + offsetof(struct profile_region_cell, rest));
    sum_add(&buckets[user_metric_bucket(value)], 1);
    user_metric_note_value(c, value);
}

/* Slow paths are tail calls, so that the fast path need not save registers. */
#define OTHERWISE static __attribute__((noinline)) void

OTHERWISE user_metric_add_slow(poet_meter_t meter, int64_t n)
{
    int saved = errno;
    bool gauge = meter < REGION_CELLS && user_metric_kinds[meter] == METRIC_GAUGE;
    struct profile_region_cell *c =
        user_metric_cell_slow(meter, gauge ? METRIC_GAUGE : METRIC_COUNT);
    if (c && gauge)
        user_metric_note_value(
            c, (int64_t)((uint64_t)atomic_load_explicit(&c->last, memory_order_relaxed) +
                         (uint64_t)n));
    else if (c)
        user_metric_count_value(c, n);
    errno = saved;
}

void poet_add(poet_meter_t meter, int64_t n)
{
    struct profile_region_cell *c = user_metric_cell_ready(meter, METRIC_COUNT);
    if (LIKELY(c))
        user_metric_count_value(c, n);
    else
        user_metric_add_slow(meter, n);
}

OTHERWISE user_metric_set_slow(poet_meter_t meter, int64_t value, unsigned kind)
{
    int saved = errno;
    struct profile_region_cell *c = user_metric_cell_slow(meter, kind);
    if (c && kind == METRIC_DISTRIBUTION)
        user_metric_note_size(c, value);
    else if (c)
        user_metric_note_value(c, value);
    errno = saved;
}

void poet_set(poet_meter_t meter, int64_t value)
{
    struct profile_region_cell *c = user_metric_cell_ready(meter, METRIC_GAUGE);
    if (LIKELY(c))
        user_metric_note_value(c, value);
    else
        user_metric_set_slow(meter, value, METRIC_GAUGE);
}

void poet_observe(poet_meter_t meter, int64_t value)
{
    struct profile_region_cell *c = user_metric_cell_ready(meter, METRIC_DISTRIBUTION);
    if (LIKELY(c))
        user_metric_note_size(c, value);
    else
        user_metric_set_slow(meter, value, METRIC_DISTRIBUTION);
}

/* User-defined metrics: named once, and then counted by each thread in the cells of its region. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/user_metrics.h"

#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/measurement_choice.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/profile/metric_name.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/sampled_cells.h"
#include "clients/libpoet/poet.h"
#include "wire/metric_messages.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <string.h>

/* ---- names ---- */

struct user_metric {
    struct user_metric *next;
    uint32_t code;
    unsigned kind;
    const char *unit;
    char name[];
};

static latch lock;
static struct user_metric *_Atomic own_meters; /* newest first; never removed */
static uint32_t next_code = 1;
static uint8_t kinds[REGION_CELLS]; /* by code */
static _Atomic bool traced; /* a server was found, once */
static bool full; /* which was reported */

void user_metrics_announce(void)
{
    atomic_store(&traced, !server_needs_socket);
    for (const struct user_metric *m = atomic_load(&own_meters); m; m = m->next)
        metric_name_send(m->code, m->kind, m->name, m->unit);
    sampled_cells_announce();
    measurement_choice_announce();
}

void user_metrics_forked(void)
{
    latch_reset(&lock);
    sampled_cells_forked();
}

static const struct user_metric *user_metric_find(const char *name)
{
    const struct user_metric *m = atomic_load(&own_meters);
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
    struct user_metric *m = next_code + cells <= REGION_CELLS
                                ? tracer_arena_alloc(sizeof *m + name_bytes + unit_bytes + 2)
                                : NULL;
    if (!m) {
        if (!full)
            stderr_log_print("poet_meter: %.80s: too many metrics; not counted", name);
        full = true;
        return NULL;
    }
    m->unit = m->name + name_bytes + 1;
    memcpy(m->name, name, name_bytes);
    memcpy(m->name + name_bytes + 1, unit, unit_bytes);
    m->code = next_code;
    m->kind = kind;
    m->next = atomic_load(&own_meters);
    kinds[m->code] = (uint8_t)kind;
    next_code += cells;
    atomic_store(&own_meters, m);
    return m;
}

poet_meter_t poet_meter(const char *name, const char *unit, unsigned kind)
{
    if (!name || kind < POET_COUNT || kind > POET_DISTRIBUTION || !atomic_load(&traced))
        return 0;
    int saved = errno;
    struct traced_thread *t = thread_self();
    if (t)
        busy_begin(t);
    latch_lock(&lock);
    const struct user_metric *m = user_metric_find(name);
    bool known = m != NULL;
    if (!m)
        m = user_metric_create(name, unit ? unit : "", kind);
    latch_unlock(&lock);
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
    if (!meter || meter >= REGION_CELLS || kinds[meter] != kind)
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
    bool gauge = meter < REGION_CELLS && kinds[meter] == METRIC_GAUGE;
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

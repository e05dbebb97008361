/* Meters of the program's own: named once, and then counted by each thread in the cells of its region. */
#define _GNU_SOURCE
#include "clients/trace/measure/meters.h"

#include "clients/trace/core/arena.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/chosen.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/measure/metername.h"
#include "clients/trace/measure/region.h"
#include "clients/trace/measure/watched.h"
#include "clients/trace/poet.h"
#include "wire/meter.h"
#include "wire/told.h"

#include <errno.h>
#include <string.h>

/* ---- names ---- */

struct own_meter {
    struct own_meter *next;
    uint32_t code;
    unsigned kind;
    const char *unit;
    char name[];
};

static latch lock;
static struct own_meter *_Atomic own_meters; /* the newest first; none ever goes */
static uint32_t next_code = 1;
static uint8_t kinds[REGION_CELLS]; /* by code */
static _Atomic bool traced; /* a server was found, once */
static bool full; /* which was said */

void meters_announce(void)
{
    atomic_store(&traced, !server_sends && server_meters);
    for (const struct own_meter *m = atomic_load(&own_meters); m; m = m->next)
        meter_tell(m->code, m->kind, m->name, m->unit);
    watched_announce();
    chosen_announce();
}

void meters_forked(void)
{
    latch_reset(&lock);
    watched_forked();
}

static const struct own_meter *find(const char *name)
{
    const struct own_meter *m = atomic_load(&own_meters);
    while (m && strncmp(m->name, name, TOLD_LABEL_BYTES - 1) != 0)
        m = m->next;
    return m;
}

static const struct own_meter *make(const char *name, const char *unit, unsigned kind)
{
    uint32_t cells = kind == METER_DISTRIBUTION ? METER_CELLS : 1;
    size_t name_bytes = strnlen(name, TOLD_LABEL_BYTES - 1),
           unit_bytes = strnlen(unit, TOLD_LABEL_BYTES - 1);
    struct own_meter *m = next_code + cells <= REGION_CELLS
                              ? arena_take(sizeof *m + name_bytes + unit_bytes + 2)
                              : NULL;
    if (!m) {
        if (!full)
            say("poet_meter: %.80s: there is no room for more meters: it is not counted", name);
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
    struct thread *t = thread_self();
    if (t)
        busy_begin(t);
    latch_take(&lock);
    const struct own_meter *m = find(name);
    bool known = m != NULL;
    if (!m)
        m = make(name, unit ? unit : "", kind);
    latch_give(&lock);
    if (m && !known)
        meter_tell(m->code, m->kind, m->name, m->unit);
    if (t)
        busy_end(t);
    errno = saved;
    return m ? m->code : 0;
}

/* ---- counting ---- */

static inline struct region_cell *cells_of(const struct measured *m)
{
    return (struct region_cell *)(void *)((char *)m->head + REGION_CELLS_AT);
}

/* The first time that a thread counts in it.  The kind is written last: who reads sees it when the rest is there. */
static struct region_cell *begin(const struct measured *m, uint32_t meter, unsigned kind)
{
    struct region_cell *cell = &cells_of(m)[meter];
    uint32_t end = meter + (kind == METER_DISTRIBUTION ? METER_CELLS : 1);
    atomic_store_explicit(&cell->least, INT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&cell->most, INT64_MIN, memory_order_relaxed);
    if (atomic_load_explicit(&m->head->cells, memory_order_relaxed) < end)
        atomic_store_explicit(&m->head->cells, end, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    m->head->kinds[meter] = (uint8_t)kind;
    return cell;
}

static __attribute__((noinline)) struct region_cell *cell_otherwise(poet_meter_t meter,
                                                                    unsigned kind)
{
    if (!meter || meter >= REGION_CELLS || kinds[meter] != kind)
        return NULL;
    struct thread *t = thread_self();
    if (!t) /* a child that begins to be recorded, or a thread of a library */
        t = thread_recording();
    if (!t || !t->queue ||
        !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_METERS))
        return NULL;
    const struct measured *m = t->measured ? t->measured : hooks_first(t);
    if (!m)
        return NULL;
    return m->head->kinds[meter] == kind ? &cells_of(m)[meter] : begin(m, meter, kind);
}

/* The calling thread's, where it has counted in it before; NULL: it must be looked for. */
static inline __attribute__((always_inline)) struct region_cell *cell_at_hand(poet_meter_t meter,
                                                                              unsigned kind)
{
    const struct thread *t = thread_mine;
    if (!LIKELY(t && t->measured && t->queue && meter < REGION_CELLS &&
                t->measured->head->kinds[meter] == kind &&
                atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_METERS))
        return NULL;
    return &cells_of(t->measured)[meter];
}

static inline void add_to(_Atomic int64_t *sum, int64_t n)
{
    sum_add((_Atomic uint64_t *)(uintptr_t)sum, (uint64_t)n);
}

static inline void note_value(struct region_cell *c, int64_t value)
{
    if (!LIKELY(value >= atomic_load_explicit(&c->least, memory_order_relaxed)))
        atomic_store_explicit(&c->least, value, memory_order_relaxed);
    if (!LIKELY(value <= atomic_load_explicit(&c->most, memory_order_relaxed)))
        atomic_store_explicit(&c->most, value, memory_order_relaxed);
    atomic_store_explicit(&c->last, value, memory_order_relaxed);
    add_to(&c->sum, value);
    sum_add(&c->count, 1);
}

static inline void count_in(struct region_cell *c, int64_t n)
{
    add_to(&c->sum, n);
    sum_add(&c->count, 1);
}

static inline unsigned bucket_of(int64_t value)
{
    unsigned bucket = value < 1 ? 0 : 64u - (unsigned)__builtin_clzll((unsigned long long)value);
    return bucket < METER_BUCKETS ? bucket : METER_BUCKETS - 1;
}

static inline void note_size(struct region_cell *c, int64_t value)
{
    _Atomic uint64_t *buckets = (void *)((char *)c + offsetof(struct region_cell, rest));
    sum_add(&buckets[bucket_of(value)], 1);
    note_value(c, value);
}

/* What is not on the straight way is called last, so that nothing need be kept for it. */
#define OTHERWISE static __attribute__((noinline)) void

OTHERWISE add_otherwise(poet_meter_t meter, int64_t n)
{
    int saved = errno;
    bool gauge = meter < REGION_CELLS && kinds[meter] == METER_GAUGE;
    struct region_cell *c = cell_otherwise(meter, gauge ? METER_GAUGE : METER_COUNT);
    if (c && gauge)
        note_value(c, (int64_t)((uint64_t)atomic_load_explicit(&c->last, memory_order_relaxed) +
                                (uint64_t)n));
    else if (c)
        count_in(c, n);
    errno = saved;
}

void poet_add(poet_meter_t meter, int64_t n)
{
    struct region_cell *c = cell_at_hand(meter, METER_COUNT);
    if (LIKELY(c != NULL))
        count_in(c, n);
    else
        add_otherwise(meter, n);
}

OTHERWISE value_otherwise(poet_meter_t meter, int64_t value, unsigned kind)
{
    int saved = errno;
    struct region_cell *c = cell_otherwise(meter, kind);
    if (c && kind == METER_DISTRIBUTION)
        note_size(c, value);
    else if (c)
        note_value(c, value);
    errno = saved;
}

void poet_set(poet_meter_t meter, int64_t value)
{
    struct region_cell *c = cell_at_hand(meter, METER_GAUGE);
    if (LIKELY(c != NULL))
        note_value(c, value);
    else
        value_otherwise(meter, value, METER_GAUGE);
}

void poet_took(poet_meter_t meter, int64_t value)
{
    struct region_cell *c = cell_at_hand(meter, METER_DISTRIBUTION);
    if (LIKELY(c != NULL))
        note_size(c, value);
    else
        value_otherwise(meter, value, METER_DISTRIBUTION);
}

#include "server/queries/interval_cache.h"

#include "base/alloc.h"
#include "server/run/activity_store.h"
#include "server/run/awaits.h"
#include "server/run/call_sites.h"
#include "server/run/clock_sync.h"
#include "server/run/cpu_placement.h"
#include "server/run/event_times.h"
#include "server/timing/interval_builder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAUSES_MOST 64u
#define QUICK 256u

struct interval_cache {
    const struct run *run;
    struct interval_builder *follow;
    size_t targets; /* number of target descriptions when the pass began */
    uint64_t fit;   /* generation of the clocks when the pass began */
    uint64_t again;
    uint64_t first, end; /* range of positions */
    uint64_t looked; /* number of events when interval_builder_outdated() was last checked */
    const char *causes[CAUSES_MOST]; /* names of event types, by number of their bit */
    size_t cause_count;
    struct map meanings; /* by kinds of the line and of the named line, type and relation */
    struct quick { /* recently used meanings, by hash; `is` NULL: empty */
        const struct event_meaning *is;
        uint32_t kind, about, type;
        uint8_t relation;
    } quick[QUICK];
};

/* ---- meanings of types ---- */

/* Returns whether lines of the kind hold counted units, as a semaphore does: a type of events that
 * is not a critical section comes after all of type `given` (NULL: of any type). */
static bool is_counted(const struct target *target, const char *kind, const char *given)
{
    for (size_t i = 0; target && i < target->event_count; i++) {
        const struct target_event *e = &target->events[i];
        if (e->after.count && e->relation != RELATION_SYNC &&
            (!given || target_has_line_type(&e->after, given)) &&
            (!e->on.count || target_has_line_type(&e->on, kind)))
            return true;
    }
    return false;
}

static uint64_t bit_of(const struct interval_cache *m, const char *type)
{
    for (size_t i = 0; i < m->cause_count; i++)
        if (strcmp(m->causes[i], type) == 0)
            return 1ull << i;
    return 0;
}

/* Assigns a bit to each type of event that ends waits, over all descriptions; types beyond
 * CAUSES_MOST get none. */
static void add_causes(struct interval_cache *m, const struct target_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (!bit_of(m, names->items[i]) && m->cause_count < CAUSES_MOST)
            m->causes[m->cause_count++] = names->items[i];
}

static void find_causes(struct interval_cache *m)
{
    for (size_t i = 0; i < m->run->targets.count; i++)
        for (size_t k = 0; k < m->run->targets.items[i]->event_count; k++)
            add_causes(m, target_ended_by(&m->run->targets.items[i]->events[k]));
}

static uint64_t interval_cache_category_bits(const struct interval_cache *m,
                                             const struct target_names *names)
{
    uint64_t all = 0;
    for (size_t i = 0; i < names->count; i++)
        all |= bit_of(m, names->items[i]);
    return all;
}

/* Sets what an event means for the presence of its thread, on its own line or on another. */
static void add_presence(struct event_meaning *meaning, const struct target_event *look)
{
    bool in = look->presence == OCCUPANCY_ACTIVE || look->presence == OCCUPANCY_AWAY;
    if (!look->has_presence)
        return;
    meaning->opens = look->own && look->opens;
    meaning->begins = look->own && !look->on_line.any && look->on_line.first;
    meaning->closes = look->own && look->closes;
    meaning->ends = look->own && !look->opens && !look->waits &&
                    (look->ends || look->presence == OCCUPANCY_BLOCKED);
    meaning->enters = !look->own && in;
    meaning->leaves =
        !look->own && (look->presence == OCCUPANCY_OUT || (look->waits && look->releases));
}

static uint8_t category_of(const struct run *run, const struct target_event *look, uint32_t kind,
                           uint32_t about)
{
    const struct target_line_type *k = about ? run_line_type(run, about) : NULL;
    if (look->category)
        return look->category;
    if (!k || !k->category)
        k = run_line_type(run, kind);
    return k ? k->category : 0;
}

static const struct target *target_of(const struct run *run, const struct target_event *look)
{
    for (size_t i = 0; i < run->targets.count; i++)
        if (look >= run->targets.items[i]->events &&
            look < run->targets.items[i]->events + run->targets.items[i]->event_count)
            return run->targets.items[i];
    return NULL;
}

static void interval_cache_set_meaning(const struct interval_cache *m,
                                       struct event_meaning *meaning, const struct order_event *e,
                                       const struct target_event *look, uint32_t kind,
                                       uint32_t about)
{
    static const uint8_t classes[] = {WAIT_RENDEZVOUS, WAIT_RENDEZVOUS, WAIT_CONTENTION,
                                      WAIT_TIMEOUT};
    const struct run *run = m->run;
    const struct target *target = target_of(run, look);
    const char *name = run_kind_name(run, kind);
    meaning->waits = look->waits;
    meaning->class = classes[look->waits_as];
    meaning->category = category_of(run, look, kind, about);
    meaning->releases = look->releases;
    meaning->may_pass = look->role == ROLE_REQUEST;
    meaning->by_clock = look->category == CATEGORY_CLOCK;
    meaning->violates = look->role == ROLE_VIOLATION;
    meaning->interrupts = look->category == CATEGORY_SIGNAL;
    meaning->gathers = look->waits && target_has_line_type(&look->causes, look->name);
    meaning->sends = look->category == CATEGORY_SEND;
    meaning->is = bit_of(m, look->name);
    meaning->causes = look->waits ? interval_cache_category_bits(m, target_ended_by(look)) : 0;
    add_presence(meaning, look);
    if (!order_line_shared(run->order, e->line) || !is_counted(target, name, NULL))
        return;
    /* A thread is in the line as long as it holds a unit: takes and gives say when. */
    meaning->enters = meaning->leaves = false;
    meaning->takes = look->after.count && e->relation != RELATION_SYNC;
    meaning->gives = is_counted(target, name, look->name);
}

static const struct event_meaning *
find_meaning(struct interval_cache *m, const struct order_event *e, uint32_t kind, uint32_t about)
{
    uint64_t a = (uint64_t)kind << 32 | about, b = (uint64_t)e->type << 8 | e->relation;
    struct event_meaning *known = map_get(&m->meanings, a, b);
    if (known)
        return known;
    known = xcalloc(1, sizeof *known);
    const struct target_event *look =
        run_event_type(m->run, e->line, e->type, (enum relation)e->relation);
    if (look)
        interval_cache_set_meaning(m, known, e, look, kind, about);
    map_put(&m->meanings, a, b, known);
    return known;
}

static const struct event_meaning *meaning_of(const void *context, const struct order_event *e)
{
    struct interval_cache *m = (struct interval_cache *)(uintptr_t)context;
    uint32_t kind = order_line_kind(m->run->order, e->line),
             about = e->about ? order_line_kind(m->run->order, e->about) : 0,
             hash = kind * 41 + about * 13 + e->type * 7 + e->relation;
    struct quick *quick = &m->quick[hash % QUICK];
    if (!quick->is || quick->kind != kind || quick->about != about || quick->type != e->type ||
        quick->relation != e->relation)
        *quick = (struct quick){find_meaning(m, e, kind, about), kind, about, e->type, e->relation};
    return quick->is;
}

static int64_t time_of(const void *context, const struct order_event *event)
{
    const struct interval_cache *m = context;
    return event_times_for_process(m->run, event);
}

static uint32_t place_of(const void *context, uint32_t site)
{
    const struct interval_cache *m = context;
    return call_sites_for_line(m->run, site);
}

/* ---- activities of threads ---- */

static struct code_segment_key step_of(const struct run *run, uint32_t thread, uint32_t step)
{
    uint32_t path =
        step == ACTIVITY_REST ? ACTIVITY_NO_PATH : activity_path_of(run, thread, step / 2);
    if (path == ACTIVITY_NO_PATH || (step & 1 && !path))
        return (struct code_segment_key){.is = STEP_CODE};
    uint32_t within = step & 1 ? activity_path(run, path)->parent : path;
    if (!within) /* in no measured function: the call sites of the two events say more */
        return (struct code_segment_key){.is = STEP_CODE};
    return (struct code_segment_key){.from = within,
                                     .to = step & 1 ? path : 0,
                                     .is = STEP_CALLS,
                                     .scope = activity_function(run, within)};
}

static bool interval_cache_is_recorded(const struct activity_span *span,
                                       const struct order_event *e)
{
    return span->time_ns == e->time_ns &&
           (span->at.line != e->line || span->at.number == e->number);
}

static int interval_cache_activity_of(const void *context, struct measured_activity *doing,
                                      const struct order_event *e, struct activity_piece *pieces)
{
    const struct run *run = ((const struct interval_cache *)context)->run;
    uint64_t first = activity_first(run, e->thread);
    const struct activity_span *span;
    if (doing->next < first) {
        doing->next = first;
        doing->known = false;
    }
    for (; (span = activity_span(run, e->thread, doing->next)) && span->time_ns < e->time_ns;
         doing->next++)
        doing->known = false; /* its event is not in the order */
    if (!span || !interval_cache_is_recorded(span, e))
        return -1;
    doing->next++;
    const struct code_segment *steps = activity_steps(run, e->thread, span);
    if (!(span->what & ACTIVITY_STEPS))
        return -1;
    for (uint16_t i = 0; i < span->count; i++)
        pieces[i] = (struct activity_piece){step_of(run, e->thread, steps[i].step),
                                            (int64_t)steps[i].ticks};
    doing->known = span->count && pieces[span->count - 1].step.is == STEP_CALLS;
    if (doing->known)
        doing->step = pieces[span->count - 1].step;
    return span->count;
}

static bool awaits_of(const void *context, const struct order_event *e, struct awaiting *awaiting)
{
    const struct run *run = ((const struct interval_cache *)context)->run;
    const struct await *await = awaits_after(run, e);
    if (await)
        *awaiting = (struct awaiting){.from_ns = event_times_for_process(run, e) +
                                                 (await->since_ns - e->time_ns),
                                      .about = await->about,
                                      .site = await->site};
    return await != NULL;
}

/* ---- storage with the run ---- */

static void interval_cache_discard(struct interval_cache *m)
{
    interval_builder_free(m->follow);
    m->follow = NULL;
    for (struct map_walk walk = {.map = &m->meanings}; map_next(&walk);)
        free(walk.value);
    map_free(&m->meanings);
}

static void interval_cache_free(void *state)
{
    interval_cache_discard(state);
    free(state);
}

static void interval_cache_reset(struct interval_cache *m, const struct run *run, uint64_t again)
{
    *m = (struct interval_cache){.run = run,
                                 .targets = run->targets.count,
                                 .fit = clock_sync_generation(run),
                                 .again = again,
                                 .first = m->first,
                                 .end = m->end};
    find_causes(m);
    m->follow = interval_builder_new((struct run_metadata_source){.context = m,
                                                                  .order = run->order,
                                                                  .time = time_of,
                                                                  .meaning = meaning_of,
                                                                  .place = place_of,
                                                                  .did = interval_cache_activity_of,
                                                                  .awaits = awaits_of},
                                     m->first, m->end);
}

/* Restricts the cache to positions first .. end - 1 (see partial_run_new()).  No interval of the
 * run may have been computed yet. */
static void interval_cache_begin(const struct run *run, uint64_t first, uint64_t end)
{
    /* the run's contents do not change, only its cache */
    struct run *cache = (struct run *)(uintptr_t)run;
    struct interval_cache *m = xcalloc(1, sizeof *m);
    run_addon_attach(&cache->addons, RUN_ADDON_INTERVALS,
                     (struct run_addon){m, interval_cache_free});
    m->first = first;
    m->end = end;
    interval_cache_reset(m, run, 1);
}

static struct interval_cache *interval_cache_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_INTERVALS);
}

static struct interval_cache *interval_cache_for_run(const struct run *run)
{
    if (!interval_cache_of(run))
        interval_cache_begin(run, 0, NO_POSITION);
    return interval_cache_of(run);
}

static void interval_cache_restart(struct interval_cache *m, const struct run *run)
{
    uint64_t looked = m->looked;
    interval_cache_discard(m);
    interval_cache_reset(m, run, m->again + 1);
    m->looked = looked;
}

/* Returns whether the intervals must be computed again.  To avoid repeated searches, it checks
 * only when the run has ended, and whenever a live run has doubled in size. */
static bool interval_cache_is_outdated(struct interval_cache *m, const struct run *run)
{
    uint64_t count = order_count(run->order);
    if (count == m->looked || (!run->status.finished && count / 2 < m->looked))
        return false;
    m->looked = count;
    return interval_builder_outdated(m->follow);
}

bool interval_cache_step(const struct run *run, uint64_t *budget)
{
    struct interval_cache *m = interval_cache_for_run(run);
    bool stale = m->targets != run->targets.count || m->fit != clock_sync_generation(run);
    if (stale || interval_builder_first(m->follow) < order_first(run->order))
        interval_cache_restart(m, run);
    if (interval_cache_full(run) || !interval_builder_step(m->follow, budget))
        return false;
    if (!interval_cache_is_outdated(m, run))
        return true;
    interval_cache_restart(m, run);
    return interval_builder_step(m->follow, budget);
}

#ifndef MEASURED_MOST /* bytes; tests make it small */
#define MEASURED_MOST ((size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 6)
#endif

/* Returns the memory limit in bytes.  (Reserved memory can be twice as much.) */
static size_t most_bytes(void)
{
    static size_t most;
    return most = most ? most : MEASURED_MOST;
}

bool interval_cache_full(const struct run *run)
{
    return intervals_bytes(interval_cache_get(run)) > most_bytes();
}

#define ENOUGH_TO_KNOW 65536u /* events after which the memory per event is known */

uint64_t interval_cache_capacity(const struct run *run)
{
    uint64_t known = interval_cache_position(run) -
                     interval_builder_first(interval_cache_of(run)->follow),
             bytes = intervals_bytes(interval_cache_get(run));
    bool knows = known > ENOUGH_TO_KNOW || interval_cache_full(run);
    return knows && bytes ? (uint64_t)((double)most_bytes() / (double)bytes * (double)known)
                          : UINT64_MAX;
}

const struct intervals *interval_cache_get(const struct run *run)
{
    return interval_builder_intervals(interval_cache_for_run(run)->follow);
}

const struct event_meaning *interval_cache_meaning(const struct run *run,
                                                   const struct order_event *event)
{
    return meaning_of(interval_cache_for_run(run), event);
}

uint8_t interval_cache_category(const struct run *run, uint64_t position)
{
    const struct order *order = run->order;
    if (position < order_first(order) || position >= order_count(order))
        return 0;
    struct order_event event = order_event(order, position);
    return meaning_of(interval_cache_for_run(run), &event)->category;
}

uint64_t interval_cache_position(const struct run *run)
{
    return interval_builder_known(interval_cache_for_run(run)->follow);
}
uint64_t interval_cache_generation(const struct run *run)
{
    return interval_cache_for_run(run)->again;
}

static int64_t interval_cache_replaced_ns(const void *of, uint32_t line)
{
    const struct run *run = of;
    uint64_t last = run_process_replaced(run, run_line_at(run, line)->process);
    return last == NO_POSITION ? INTERVALS_NEVER : event_times_fitted(run, last);
}

struct lifetimes interval_cache_lifetimes(const struct run *run)
{
    const struct cpu_states *states = cpu_placement_states(run);
    return (struct lifetimes){.all = interval_cache_get(run),
                              .spans = states,
                              .records = states,
                              .calls = &run->contexts,
                              .replaced_ns = interval_cache_replaced_ns,
                              .run = run,
                              .start_ns = run->clock.start_ns};
}

int64_t interval_cache_until_ns(const struct run *run)
{
    if (run->programs.connected && run->clock.wall_ns)
        return run_clock_now_ns(&run->clock);
    return run->clock.ended_ns > run->clock.last_ns ? run->clock.ended_ns : run->clock.last_ns;
}

size_t interval_cache_open(const struct run *run, struct wait_record **waits)
{
    return interval_builder_open_waits(interval_cache_for_run(run)->follow, run->clock.last_ns,
                                       waits);
}

static int interval_cache_by_thread(const void *a, const void *b)
{
    uint32_t x = ((const struct wait_record *)a)->thread,
             y = ((const struct wait_record *)b)->thread;
    return (x > y) - (x < y);
}

struct lifetimes interval_cache_all_lifetimes(const struct run *run, struct wait_record **open)
{
    struct lifetimes lives = interval_cache_lifetimes(run);
    int64_t end = interval_cache_until_ns(run);
    lives.open_count = interval_cache_open(run, open);
    for (size_t i = 0; i < lives.open_count; i++)
        if ((*open)[i].unexplained == UNATTRIBUTED_OPEN && (*open)[i].to_ns < end)
            (*open)[i].to_ns = end;
    if (lives.open_count)
        qsort(*open, lives.open_count, sizeof **open, interval_cache_by_thread);
    lives.open = *open;
    return lives;
}

/* ---- partial runs ---- */

#define AROUND_MOST (1u << 20)
#define CACHES (sizeof((struct partial_run *)0)->caches / sizeof(struct run_addon))

static void partial_run_swap_caches(const struct run *run, struct partial_run *apart)
{
    /* the run's contents do not change, only its caches */
    struct run *cache = (struct run *)(uintptr_t)run;
    for (unsigned i = 0; i < CACHES; i++)
        run_addon_swap(&cache->addons, RUN_ADDON_INTERVALS + i, &apart->caches[i]);
}

static uint64_t partial_run_first_position(const struct run *run, int64_t from_ns, uint64_t around)
{
    uint64_t first = order_first(run->order);
    uint64_t at = from_ns == INT64_MIN ? first : event_times_position(run, from_ns);
    if (at - first <= around)
        return first;
    at = order_event(run->order, at - around).point;
    return at > first ? at : first;
}

static uint64_t partial_run_end_position(const struct run *run, int64_t to_ns, uint64_t around)
{
    uint64_t count = order_count(run->order);
    uint64_t at = to_ns == INT64_MAX ? count : event_times_position_after(run, to_ns);
    return count - at > around ? at + around : count;
}

struct partial_run *partial_run_new(const struct run *run, int64_t from_ns, int64_t to_ns,
                                    uint64_t around)
{
    struct partial_run *apart = xcalloc(1, sizeof *apart);
    around = around < AROUND_MOST ? around : AROUND_MOST;
    apart->first = partial_run_first_position(run, from_ns, around);
    apart->end = partial_run_end_position(run, to_ns, around);
    partial_run_enter(run, apart);
    interval_cache_begin(run, apart->first, apart->end);
    partial_run_leave(run, apart);
    return apart;
}

void partial_run_enter(const struct run *run, struct partial_run *apart)
{
    partial_run_swap_caches(run, apart);
}
void partial_run_leave(const struct run *run, struct partial_run *apart)
{
    partial_run_swap_caches(run, apart);
}

void partial_run_free(struct partial_run *apart)
{
    if (!apart)
        return;
    for (unsigned i = 0; i < CACHES; i++)
        run_addon_free(&apart->caches[i]);
    free(apart);
}

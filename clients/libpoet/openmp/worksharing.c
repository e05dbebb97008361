#include "clients/libpoet/openmp/worksharing.h"

#include "clients/libpoet/key_mixing.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum omp_event got, not_got;
} tells[] = {[WORKSHARING_CHUNK] = {EVENT_chunk, EVENT_nothing},
             [WORKSHARING_SINGLE] = {EVENT_chosen, EVENT_not_chosen}};

/* A loop may assign as many chunks as it has iterations: the user can disable them as events. */
static bool worksharing_is_wanted(void)
{
    static _Atomic int wanted; /* 1 no, 2 yes */
    int known = atomic_load_explicit(&wanted, memory_order_relaxed);
    if (!known) {
        const char *setting = getenv("POET_OMP_CHUNKS");
        known = setting && strcmp(setting, "0") == 0 ? 1 : 2;
        atomic_store_explicit(&wanted, known, memory_order_relaxed);
    }
    return known == 2;
}

static bool worksharing_is_shared(const struct team_member *m)
{
    return m && m->team->followed && atomic_load(&m->team->size) > 1;
}

bool worksharing_is_recorded(const struct team_member *m)
{
    return worksharing_is_shared(m) && worksharing_is_wanted();
}

static void worksharing_lock(struct team *team)
{
    while (atomic_flag_test_and_set_explicit(&team->sharing, memory_order_acquire))
        sched_yield();
}

static void worksharing_unlock(struct team *team)
{
    atomic_flag_clear_explicit(&team->sharing, memory_order_release);
}

bool worksharing_begin(struct team_member *m, enum worksharing_kind share)
{
    if (!worksharing_is_recorded(m))
        return false;
    bool gets = poet_replay_next_is(event_type(tells[share].got), true);
    poet_replay_wait_turn(m->team->line,
                          event_type(gets ? tells[share].got : tells[share].not_got));
    worksharing_lock(m->team);
    return true;
}

bool worksharing_begin_ordered(struct team_member *m, const void *site)
{
    if (!worksharing_is_recorded(m))
        return false;
    poet_replay_wait_turn(m->team->line, event_type(EVENT_asks));
    worksharing_lock(m->team);
    event_record(EVENT_asks, m->team->line, 0, site);
    return true;
}

void worksharing_end_ordered(struct team_member *m, bool asked)
{
    if (asked)
        worksharing_unlock(m->team);
}

void worksharing_end(struct team_member *m, bool asked, enum worksharing_kind share, bool got,
                     const void *site)
{
    if (!asked)
        return;
    event_record(got ? tells[share].got : tells[share].not_got, m->team->line, 0, site);
    worksharing_unlock(m->team);
}

/* ---- ordered sections: those of one loop run one after the other, so each can count which one it
 * is ---- */

static uint64_t ordered_section_key(const struct team_member *m, uint64_t section)
{
    return key_mix(key_mix(m->team->id, m->loops), key_mix(section, 0x6465726564726fu));
}

/* Returns the number of the calling section in its loop, from 1 on; 0: not known, since too many
 * loops are in progress. */
static uint64_t ordered_section_count(const struct team_member *m)
{
    struct team *t = m->team;
    struct ordered *o = &t->ordered[m->loops % ORDERED_LOOPS];
    while (atomic_flag_test_and_set(&t->ordering))
        sched_yield();
    if (o->loop < m->loops + 1)
        *o = (struct ordered){.loop = m->loops + 1};
    uint64_t number = o->loop == m->loops + 1 ? ++o->sections : 0;
    atomic_flag_clear(&t->ordering);
    return number;
}

static uint64_t ordered_section_number(const struct team_member *m)
{
    const struct ordered *o = &m->team->ordered[m->loops % ORDERED_LOOPS];
    return o->loop == m->loops + 1 ? o->sections : 0;
}

void ordered_section_request(struct team_member *m, const void *site)
{
    if (worksharing_is_shared(m))
        event_record(EVENT_ordered, m->team->line, 0, site);
}

void ordered_section_begin(struct team_member *m, const void *site)
{
    uint64_t number = worksharing_is_shared(m) ? ordered_section_count(m) : 1,
             before = ordered_section_key(m, number - 1);
    if (!worksharing_is_shared(m))
        return;
    bool whole = number && !atomic_load(&m->team->doubtful);
    event_record_receive(EVENT_turn, m->team->line, &before, whole && number > 1,
                         whole ? 0 : POET_DOUBT_THREAD, site);
}

void ordered_section_end(struct team_member *m, const void *site)
{
    uint64_t number = worksharing_is_shared(m) ? ordered_section_number(m) : 0;
    /* the next one cannot be ordered after it */
    if (worksharing_is_shared(m) &&
        !(number &&
          event_record_send(EVENT_over, m->team->line, ordered_section_key(m, number), site)))
        atomic_store(&m->team->doubtful, true);
}

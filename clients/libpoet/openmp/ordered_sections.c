/* Ordered sections. Those of one loop run one after the other, so each can count which one it
 * is. */
#include "clients/libpoet/openmp/ordered_sections.h"

#include "clients/libpoet/key_mixing.h"

#include <sched.h>

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

static bool ordered_section_is_recorded(const struct team_member *m)
{
    return m && m->team->followed && atomic_load(&m->team->size) > 1;
}

void ordered_section_request(struct team_member *m, const void *site)
{
    if (ordered_section_is_recorded(m))
        event_record(EVENT_ordered, m->team->line, 0, site);
}

void ordered_section_begin(struct team_member *m, const void *site)
{
    uint64_t number = ordered_section_is_recorded(m) ? ordered_section_count(m) : 1,
             before = ordered_section_key(m, number - 1);
    if (!ordered_section_is_recorded(m))
        return;
    bool whole = number && !atomic_load(&m->team->doubtful);
    event_record_receive(EVENT_turn, m->team->line, &before, whole && number > 1,
                         whole ? 0 : POET_DOUBT_THREAD, site);
}

void ordered_section_end(struct team_member *m, const void *site)
{
    uint64_t number = ordered_section_is_recorded(m) ? ordered_section_number(m) : 0;
    /* the next one cannot be ordered after it */
    if (ordered_section_is_recorded(m) &&
        !(number &&
          event_record_send(EVENT_over, m->team->line, ordered_section_key(m, number), site)))
        atomic_store(&m->team->doubtful, true);
}

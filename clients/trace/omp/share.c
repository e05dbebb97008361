#include "clients/trace/omp/share.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum event got, not_got;
} tells[] = {[SHARE_CHUNK] = {EVENT_chunk, EVENT_nothing},
             [SHARE_SINGLE] = {EVENT_chosen, EVENT_not_chosen}};

/* A loop may give out as many chunks as it has iterations: who does not want them as events says so. */
static bool is_wanted(void)
{
    static _Atomic int wanted; /* 1 no, 2 yes */
    int known = atomic_load_explicit(&wanted, memory_order_relaxed);
    if (!known) {
        const char *said = getenv("POET_OMP_CHUNKS");
        known = said && strcmp(said, "0") == 0 ? 1 : 2;
        atomic_store_explicit(&wanted, known, memory_order_relaxed);
    }
    return known == 2;
}

bool share_is_told(const struct member *m)
{
    return m && m->team->followed && atomic_load(&m->team->size) > 1 && is_wanted();
}

static void share_lock(struct team *team)
{
    while (atomic_flag_test_and_set_explicit(&team->sharing, memory_order_acquire))
        sched_yield();
}

static void share_unlock(struct team *team)
{
    atomic_flag_clear_explicit(&team->sharing, memory_order_release);
}

bool share_asks(struct member *m, enum share share)
{
    if (!share_is_told(m))
        return false;
    bool gets = poet_again(event_type(tells[share].got), true);
    poet_turn(m->team->line, event_type(gets ? tells[share].got : tells[share].not_got));
    share_lock(m->team);
    return true;
}

bool share_asks_ordered(struct member *m, const void *site)
{
    if (!share_is_told(m))
        return false;
    poet_turn(m->team->line, event_type(EVENT_asks));
    share_lock(m->team);
    note(EVENT_asks, m->team->line, 0, site);
    return true;
}

void share_got_ordered(struct member *m, bool asked)
{
    if (asked)
        share_unlock(m->team);
}

void share_got(struct member *m, bool asked, enum share share, bool got, const void *site)
{
    if (!asked)
        return;
    note(got ? tells[share].got : tells[share].not_got, m->team->line, 0, site);
    share_unlock(m->team);
}

#include "server/run/unseen.h"
#include "memory/memory.h"
#include "server/run/lost.h"

#include <stdlib.h>
#include <string.h>

void unseen_add(struct run *run, uint32_t session, unsigned reason, const char *about)
{
    if (run->unseen_count >= UNSEEN_MOST)
        about = "";
    for (size_t i = 0; i < run->unseen_count; i++) {
        struct run_unseen *u = &run->unseen[i];
        if (u->reason != reason || strcmp(u->about, about) != 0)
            continue;
        u->count += u->session != session; /* a saved state may say it again */
        u->session = session;
        return;
    }
    if (run->unseen_count >= UNSEEN_MOST + UNSEEN_COUNT)
        return;
    run->unseen = grow(run->unseen, &run->unseen_room, run->unseen_count + 1, sizeof *run->unseen);
    char *copy = memory_copied(about);
    run->unseen[run->unseen_count++] = (struct run_unseen){(uint8_t)reason, session, copy, 1};
    run->generation++;
}

void unseen_free(struct run *run)
{
    for (size_t i = 0; i < run->unseen_count; i++)
        free(run->unseen[i].about);
    free(run->unseen);
}

uint64_t unseen_lost(const struct run *run)
{
    uint64_t numbered = order_figures(run->order).lost, lost = run_lost(run);
    return lost > numbered ? lost - numbered : 0;
}

static uint64_t unfollowed(const struct run *run)
{
    uint64_t count = 0;
    for (size_t i = 0; i < run->process_count; i++)
        count += run->processes[i].unfollowed;
    return count;
}

static uint32_t told(const struct run *run)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < run->unseen_count; i++)
        bits |= UNSEEN_BIT(run->unseen[i].reason);
    return bits;
}

/* What holds for the whole run.  Events that may be after calls on a line that could not be
 * announced say so themselves. */
static uint32_t of_all(const struct run *run) { return told(run) & ~UNSEEN_BIT(UNSEEN_LINE); }

static uint32_t hiding_ones(uint32_t bits)
{
    uint32_t hiding = 0;
    for (unsigned reason = 1; reason < UNSEEN_COUNT; reason++)
        hiding |= unseen_hides(reason) ? bits & UNSEEN_BIT(reason) : 0;
    return hiding;
}

/* Calls are counted for several reasons, which the program tells: they are futexes where it tells no other. */
static uint64_t futexes_of(const struct run *run)
{
    uint32_t bits = told(run);
    bool others = bits & (UNSEEN_BIT(UNSEEN_HANDLER) | UNSEEN_BIT(UNSEEN_LOST) |
                          UNSEEN_BIT(UNSEEN_LINE));
    return others ? 0 : unfollowed(run);
}

/* Once nobody is left who could tell their numbers. */
static bool unnumbered(const struct run *run)
{
    uint64_t dropped = 0, numbered = order_figures(run->order).lost;
    for (size_t i = 0; i < run->process_count; i++)
        dropped += run->processes[i].dropped;
    return !run->connected && dropped > numbered;
}

uint32_t unseen_hiding(const struct run *run)
{
    return hiding_ones(of_all(run) | (unnumbered(run) ? UNSEEN_BIT(UNSEEN_LOST) : 0));
}

bool unseen_some(const struct run *run)
{
    return unseen_hiding(run) || (told(run) & UNSEEN_BIT(UNSEEN_LINE));
}

uint32_t unseen_mechanisms(const struct run *run)
{
    uint32_t bits = of_all(run) | (futexes_of(run) ? UNSEEN_BIT(UNSEEN_FUTEX) : 0);
    bits &= ~hiding_ones(bits);
    return bits | (unseen_lost(run) ? UNSEEN_BIT(UNSEEN_LOST) : 0);
}

struct shown_unseen *unseen_list(const struct run *run, uint32_t *count)
{
    struct shown_unseen *list = memory_zeroed(run->unseen_count + 2, sizeof *list);
    uint64_t futexes = futexes_of(run), lost = unseen_lost(run);
    *count = 0;
    for (size_t i = 0; i < run->unseen_count; i++)
        if (run->unseen[i].reason != UNSEEN_FUTEX || !futexes) /* else with their number, below */
            list[(*count)++] = (struct shown_unseen){run->unseen[i].reason, run->unseen[i].about,
                                                     run->unseen[i].count};
    if (futexes)
        list[(*count)++] = (struct shown_unseen){UNSEEN_FUTEX, NULL, futexes};
    if (lost)
        list[(*count)++] = (struct shown_unseen){UNSEEN_LOST, NULL, lost};
    return list;
}

/* Whether what was measured and explained keeps its own rules, in every trace: they follow from the definitions, so where
 * one is broken, something was recorded or computed wrongly.
 *
 * Computed in steps.  The intervals may grow meanwhile; what is looked at is what there was at the begin. */
#ifndef SERVER_CAUSES_SOUND_H
#define SERVER_CAUSES_SOUND_H

#include "server/causes/charges.h"
#include "server/causes/path.h"

enum sound_rule {
    SOUND_COURSE, /* a thread's intervals come one after the other */
    SOUND_LIFE, /* its states fill its life (told by who knows lives: sound_breach) */
    SOUND_RELEASE, /* who waits is let go after it began to wait, and not after it went on */
    SOUND_ORDER, /* and in the order, too: the release is before the wait's end */
    SOUND_OVERLAP, /* what ran while it waited adds up to the wait */
    SOUND_REASONS, /* so do the reasons why it came so late */
    SOUND_CHARGES, /* and what is charged with it */
    SOUND_PATH, /* pieces of the critical path come one after the other, up to the last end */
    SOUND_TASK, /* a task of a runtime is on one carrier at a time (told, as SOUND_LIFE) */
    SOUND_CARRIER, /* one task is on a carrier at a time (likewise) */
    SOUND_RULES
};

struct breach {
    uint8_t rule; /* an enum sound_rule */
    uint32_t thread; /* line */
    uint64_t position; /* of an event, or NO_POSITION */
    int64_t is_ns, should_ns;
};

#define SOUND_MOST 1000u /* breaches that are kept */

struct sound {
    const struct why *why; /* of all.waits, as far as it goes; not owned */
    const struct intervals *all;
    struct breach *breaches;
    size_t count, room;
    uint64_t broken; /* kept or not */
    /* private */
    uint32_t thread;
    size_t interval, wait, waits;
    struct path path;
    bool begun;
    struct charges charges;
};

/* Zero-initialised `sound` becomes one of all that is known now. */
void sound_begin(struct sound *sound, const struct intervals *all, const struct why *why);
/* Goes on for about `budget` things; true when all was looked at.  The waits must have been explained. */
bool sound_step(struct sound *sound, uint64_t budget);
void sound_breach(struct sound *sound, struct breach breach);
const char *sound_word(unsigned rule); /* "what ran meanwhile does not add up to the wait" */
void sound_free(struct sound *sound);

#endif

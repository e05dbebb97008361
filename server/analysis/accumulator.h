/* A tally: nanoseconds by small numbers (segment_ids.h), added up in one place and emptied again.
 *
 * Adding costs the same whatever is in it, emptying as much as was in it. */
#ifndef SERVER_ANALYSIS_ACCUMULATOR_H
#define SERVER_ANALYSIS_ACCUMULATOR_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: it is empty. */
struct accumulator {
    int64_t *ns; /* by key */
    uint32_t *at; /* by key: 1 + where it stands among `keys`, 0: not */
    size_t room;
    uint32_t *keys; /* that were added to since it was emptied; a sum may be 0 again */
    size_t count, key_room;
};

void accumulator_grow(struct accumulator *tally, uint32_t key); /* there is room for the key */
void accumulator_note(struct accumulator *tally, uint32_t key); /* it stands among the keys */
static inline void accumulator_add(struct accumulator *tally, uint32_t key, int64_t ns)
{
    if (key >= tally->room)
        accumulator_grow(tally, key);
    if (!tally->at[key])
        accumulator_note(tally, key);
    tally->ns[key] += ns;
}
static inline int64_t accumulator_get(const struct accumulator *tally, uint32_t key)
{
    return key < tally->room ? tally->ns[key] : 0;
}
void accumulator_clear(struct accumulator *tally);
void accumulator_free(struct accumulator *tally); /* empties it and gives its memory back */

#endif

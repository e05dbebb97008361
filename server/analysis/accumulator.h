/* Accumulator: nanoseconds summed per small number (segment_ids.h), which can be emptied and used
 * again.
 *
 * Adding takes constant time; emptying takes time proportional to the number of keys in use. */
#ifndef SERVER_ANALYSIS_ACCUMULATOR_H
#define SERVER_ANALYSIS_ACCUMULATOR_H

#include <stddef.h>
#include <stdint.h>

/* A zero-initialized accumulator is empty. */
struct accumulator {
    int64_t *ns; /* by key */
    uint32_t *at; /* by key: 1 + its index in `keys`; 0 if the key is not in use */
    size_t room;
    /* keys that were added to since the accumulator was emptied; a sum may be 0 again */
    uint32_t *keys;
    size_t count, key_room;
};

void accumulator_grow(struct accumulator *tally, uint32_t key); /* makes room for the key */
void accumulator_note(struct accumulator *tally, uint32_t key); /* appends the key to `keys` */
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
/* Frees the memory; the accumulator is empty then. */
void accumulator_free(struct accumulator *tally);

#endif

/* A tally: nanoseconds by small numbers (pairs.h), added up in one place and emptied again.
 *
 * Adding costs the same whatever is in it, emptying as much as was in it. */
#ifndef SERVER_CAUSES_TALLY_H
#define SERVER_CAUSES_TALLY_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: it is empty. */
struct tally {
    int64_t *ns; /* by key */
    uint32_t *at; /* by key: 1 + where it stands among `keys`, 0: not */
    size_t room;
    uint32_t *keys; /* that were added to since it was emptied; a sum may be 0 again */
    size_t count, key_room;
};

void tally_grow(struct tally *tally, uint32_t key); /* there is room for the key */
void tally_note(struct tally *tally, uint32_t key); /* it stands among the keys */
static inline void tally_add(struct tally *tally, uint32_t key, int64_t ns)
{
    if (key >= tally->room)
        tally_grow(tally, key);
    if (!tally->at[key])
        tally_note(tally, key);
    tally->ns[key] += ns;
}
static inline int64_t tally_get(const struct tally *tally, uint32_t key)
{
    return key < tally->room ? tally->ns[key] : 0;
}
void tally_clear(struct tally *tally);
void tally_free(struct tally *tally); /* empties it and gives its memory back */

#endif

/* Sums of nanoseconds by thread and code segment: numbers for these pairs, lists of shares, an
 * accumulator, which can be emptied and used again, and a persistent map, of which earlier states
 * can be kept.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_SEGMENT_SUMS_H
#define SERVER_ANALYSIS_SEGMENT_SUMS_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- numbers of pairs ----
 *
 * A pair is a thread and a code segment (server/timing/code_segments.h).  Besides the recorded code
 * segments there are three special ones for times without a recorded one. */

#define STEP_NOT_THERE 0u /* nothing is known of the thread: before its start or after its end */
#define STEP_STARTING UINT32_MAX /* it was created and had not started */
#define STEP_OTHERS (UINT32_MAX - 1) /* shares that were too small to be kept separately */
#define SEGMENT_IDS_RESERVED 2u /* offset of code segments, so that the special ones come first */
#define SEGMENT_IDS_PAGE 64u

struct segment_id {
    uint32_t step, thread; /* the thread's trace line */
};

/* Zero-initialized: empty. */
struct segment_ids {
    struct segment_id *items; /* by code */
    uint32_t count;
    size_t room;
    struct pairs_of {
        uint32_t **pages; /* by code segment: pages of numbers + 1 */
        size_t count;
    } *threads; /* by the thread's index */
    size_t thread_count, thread_room;
    struct map strangers; /* numbers of threads without an index */
};

/* Returns the number, assigned on first use. index: the thread's own small number, in one-to-one
 * relation with its line; UINT32_MAX if it has none. */
uint32_t segment_ids_assign(struct segment_ids *pairs, uint32_t index, uint32_t line,
                            uint32_t step);
/* Does the same; numbers that were assigned before are looked up in place. */
static inline uint32_t segment_ids_get(struct segment_ids *pairs, uint32_t index, uint32_t line,
                                       uint32_t step)
{
    uint32_t slot = step + SEGMENT_IDS_RESERVED, page = slot / SEGMENT_IDS_PAGE;
    if (index < pairs->thread_count && page < pairs->threads[index].count &&
        pairs->threads[index].pages[page]) {
        uint32_t code = pairs->threads[index].pages[page][slot % SEGMENT_IDS_PAGE];
        if (code)
            return code - 1;
    }
    return segment_ids_assign(pairs, index, line, step);
}
void segment_ids_free(struct segment_ids *pairs); /* frees the memory; it is empty then */

/* ---- list pool ----
 *
 * Many short lists of shares, each written once; a share says which code segment of which thread
 * took how long.  It takes a few bytes.  A list is identified by a number; the empty list is 0. */

struct path_share {
    uint32_t pair; /* of segment_ids_get() */
    bool too; /* the waiter executed it, too, meanwhile */
    int64_t ns; /* may be negative */
};

#define LIST_POOL_LIST_MAX 32768 /* maximum number of shares in one list */

/* A zero-initialized pool is empty. */
struct list_pool {
    uint8_t **pieces;
    size_t count, room, used; /* used: bytes used of the newest piece */
};

/* Appends a list of at most LIST_POOL_LIST_MAX shares and returns its number. */
uint64_t list_pool_append(struct list_pool *bag, const struct path_share *shares, size_t count);
void list_pool_free(struct list_pool *bag); /* frees the memory; it is empty then */

struct list_pool_reader {
    const uint8_t *at;
    uint32_t left; /* shares */
};

struct list_pool_reader list_pool_open(const struct list_pool *bag, uint64_t list);

/* Decodes a number, seven bits per byte, the lowest first, and advances *from. */
static inline uint64_t list_pool_number(const uint8_t **from)
{
    const uint8_t *at = *from;
    uint64_t n = *at & 127;
    for (unsigned shift = 7; *at++ & 128; shift += 7)
        n |= (uint64_t)(*at & 127) << shift;
    *from = at;
    return n;
}

/* Reads the next share; returns false at the end of the list. */
static inline bool list_pool_next(struct list_pool_reader *reader, struct path_share *share)
{
    if (!reader->left)
        return false;
    reader->left--;
    uint64_t thread = list_pool_number(&reader->at), ns = list_pool_number(&reader->at);
    share->pair = (uint32_t)(thread >> 1);
    share->too = thread & 1;
    share->ns = (int64_t)(ns >> 1 ^ -(ns & 1));
    return true;
}

/* ---- accumulator ---- */

/* A zero-initialized accumulator is empty.  Adding takes constant time; emptying takes time
 * proportional to the number of keys in use. */
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

/* ---- persistent map ---- */

/* A state is a tree of nodes with 16 children.  Adding copies the path to the changed leaf, so a
 * snapshot costs only what changed since the previous one, and the difference of two states skips
 * what they share.  Between two snapshots the nodes are changed in place.  Memory is freed only
 * with the whole map. */
struct persistent_map_node;
struct persistent_map_chunk;

/* The memory of any number of states.  Zero-initialize it. */
struct persistent_map {
    struct persistent_map_chunk *pieces;
    size_t used; /* nodes in the newest piece */
    size_t bytes; /* of all pieces */
    uint32_t epochs;
};

/* One state; all sums of a zero-initialized one are 0.  A copy of the struct is a snapshot if
 * persistent_map_snapshot() was called before copying. */
struct persistent_map_root {
    struct persistent_map_node *root;
    uint32_t height; /* levels of nodes */
    uint32_t epoch; /* epoch of the nodes that it may change in place */
};

void persistent_map_add(struct persistent_map *sums, struct persistent_map_root *state,
                        uint32_t key, int64_t amount);
/* Makes the present contents immutable for those that copy the state; more can be added to the
 * state afterwards. */
void persistent_map_snapshot(struct persistent_map *sums, struct persistent_map_root *state);
int64_t persistent_map_get(const struct persistent_map_root *state, uint32_t key);
/* Calls `tell` for each key with different sums, in ascending order, with the sum of `a` minus that
 * of `b`. */
void persistent_map_difference(const struct persistent_map_root *a,
                               const struct persistent_map_root *b,
                               void (*tell)(void *context, uint32_t key, int64_t amount),
                               void *context);
void persistent_map_free(struct persistent_map *sums); /* frees the memory and all states */

#endif

#include "server/timing/summary_leaf.h"

#include <endian.h>
#include <string.h>

struct summary_leaf_head {
    uint8_t count, states, ns_bytes, at_bytes;
    int64_t ns;
    uint64_t at;
    struct summary_sums before;
};

_Static_assert(SUMMARY_LEAF_CHANGES < 128,
               "a leaf counts in bytes, and half of the places stay free");

#define STATE_BYTES 5u /* u32 about, u8 code */
#define SLACK 8u       /* padding: numbers are read eight bytes at a time */
_Static_assert(sizeof(struct summary_leaf_head) + SLACK <= 48 + 16 * SUMMARY_TREE_STATES &&
                   STATE_BYTES + 1 + 8 + 8 <= 22,
               "LEAF_BYTES");

#define PLACES 256u /* hash table size for states */

/* Finds the different states; *index: the state of each change. */
static uint32_t find_states(const struct summary_change *changes, uint32_t count,
                            struct summary_state *states, uint8_t *index)
{
    uint8_t places[PLACES] = {0}; /* 1 + index of the state */
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct summary_state state = changes[i].state;
        uint32_t k = (state.about * 0x9e3779b1u >> 24) + state.code * 37u;
        for (k %= PLACES; places[k] && !summary_tree_same(states[places[k] - 1], state);)
            k = (k + 1) % PLACES;
        if (!places[k]) {
            states[n++] = state;
            places[k] = (uint8_t)n;
        }
        index[i] = (uint8_t)(places[k] - 1);
    }
    return n;
}

static uint8_t summary_leaf_byte_width(uint64_t greatest)
{
    uint8_t n = 1;
    while (n < 8 && greatest >> 8 * n)
        n++;
    return n;
}

static struct summary_leaf_head head_of(const struct summary_change *changes, uint32_t count)
{
    const struct summary_change *first = &changes[0], *last = &changes[count - 1];
    return (struct summary_leaf_head){.ns = first->ns,
                                      .at = first->at,
                                      .count = (uint8_t)count,
                                      .ns_bytes =
                                          summary_leaf_byte_width((uint64_t)(last->ns - first->ns)),
                                      .at_bytes = summary_leaf_byte_width(last->at - first->at)};
}

static uint8_t *summary_leaf_put_number(uint8_t *to, uint64_t value, uint32_t bytes)
{
    value = htole64(value);
    memcpy(to, &value, bytes);
    return to + bytes;
}

size_t summary_leaf_pack(uint8_t leaf[SUMMARY_LEAF_BYTES], const struct summary_change *changes,
                         uint32_t count, const struct summary_sums *before)
{
    struct summary_state states[SUMMARY_LEAF_CHANGES];
    uint8_t index[SUMMARY_LEAF_CHANGES], *to = leaf + sizeof(struct summary_leaf_head);
    struct summary_leaf_head head = head_of(changes, count);
    head.before = *before;
    head.states = (uint8_t)find_states(changes, count, states, index);
    memcpy(leaf, &head, sizeof head);
    for (uint32_t k = 0; k < head.states; k++)
        to = summary_leaf_put_number(summary_leaf_put_number(to, states[k].about, 4),
                                     states[k].code, 1);
    memcpy(to, index, count);
    to += count;
    for (uint32_t i = 0; i < count; i++)
        to = summary_leaf_put_number(to, (uint64_t)(changes[i].ns - head.ns), head.ns_bytes);
    for (uint32_t i = 0; i < count; i++)
        to = summary_leaf_put_number(to, changes[i].at - head.at, head.at_bytes);
    return (size_t)(to - leaf) + SLACK;
}

static uint64_t summary_leaf_get_number(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return le64toh(value);
}

/* `each` is a constant in all calls, which makes this several times as fast. */
static inline __attribute__((always_inline)) void
summary_leaf_unpack_numbers(const uint8_t *numbers, uint32_t each, int64_t first, uint32_t count,
                            int64_t *where)
{
    uint64_t mask = UINT64_MAX >> (64 - 8 * each);
    for (uint32_t i = 0; i < count; i++)
        where[i] = first + (int64_t)(summary_leaf_get_number(numbers + (size_t)i * each) & mask);
}

static void unpack_numbers(const uint8_t *numbers, uint32_t each, int64_t first, uint32_t count,
                           int64_t *where)
{
    switch (each) {
    case 1:
        summary_leaf_unpack_numbers(numbers, 1, first, count, where);
        break;
    case 2:
        summary_leaf_unpack_numbers(numbers, 2, first, count, where);
        break;
    case 3:
        summary_leaf_unpack_numbers(numbers, 3, first, count, where);
        break;
    case 4:
        summary_leaf_unpack_numbers(numbers, 4, first, count, where);
        break;
    default:
        summary_leaf_unpack_numbers(numbers, each, first, count, where);
        break;
    }
}

void summary_leaf_unpack(const uint8_t *bytes, bool by_time, struct summary_leaf *leaf)
{
    struct summary_leaf_head head;
    struct summary_state states[SUMMARY_LEAF_CHANGES];
    memcpy(&head, bytes, sizeof head);
    const uint8_t *from = bytes + sizeof head, *index = from + head.states * STATE_BYTES,
                  *numbers = index + head.count;
    for (uint32_t k = 0; k < head.states; k++, from += STATE_BYTES)
        states[k] = (struct summary_state){(uint32_t)summary_leaf_get_number(from), from[4]};
    for (uint32_t i = 0; i < head.count; i++)
        leaf->state[i] = states[index[i]];
    leaf->count = head.count;
    if (by_time)
        unpack_numbers(numbers, head.ns_bytes, head.ns, head.count, leaf->where);
    else
        unpack_numbers(numbers + (size_t)head.count * head.ns_bytes, head.at_bytes,
                       (int64_t)head.at, head.count, leaf->where);
    memcpy(leaf->before, by_time ? head.before.ns : head.before.at, sizeof leaf->before);
}

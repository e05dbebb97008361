/* Unwind rules: the layout of a function's frame at an address of its code, from which its caller
 * is found. A rule is read from the unwind tables of compilers (.eh_frame; System V ABI, DWARF 5,
 * 6.4), once for each address, and cached. If an address has no such table, or one with
 * instructions that are not supported here, the rule is unknown. */
#ifndef CLIENTS_LIBPOET_UNWIND_UNWIND_RULES_H
#define CLIENTS_LIBPOET_UNWIND_UNWIND_RULES_H

#include "base/likely.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum unwind_rule_kind { RULE_NONE, UNWIND_CALLED, UNWIND_OUTERMOST, RULE_UNKNOWN };

struct unwind_rule {
    enum unwind_rule_kind is;
    /* the frame begins `up` bytes above the frame pointer, else above the stack pointer */
    bool by_frame;
    uint32_t up;
    /* the caller's frame pointer is saved that many bytes below that; 0: it is unchanged */
    uint32_t saved;
};

/* ---- cache: an address and its rule in one word ---- */

#define KNOWN_BITS 14u
#define KNOWN (1u << KNOWN_BITS)
#define UP_BITS 17u /* of eight bytes each */
#define SAVED_BITS 8u
#define RULE_BITS (2u + 1u + UP_BITS + SAVED_BITS)

extern _Atomic uint64_t unwind_rule_cache[KNOWN];

static inline struct unwind_rule unwind_rule_unpack(uint64_t word)
{
    return (struct unwind_rule){(enum unwind_rule_kind)(word & 3), word >> 2 & 1,
                                (uint32_t)(word >> 3 & ((1u << UP_BITS) - 1)) * 8,
                                (uint32_t)(word >> (3 + UP_BITS) & ((1u << SAVED_BITS) - 1)) * 8};
}

struct unwind_rule unwind_rule_read(uintptr_t site); /* Reads it from the tables. */

/* Returns the rule of an address within a call. Async-signal-safe. The lower bits of an address are
 * those of its index, mixed with higher ones that are stored. */
static inline struct unwind_rule unwind_rule_get(uintptr_t site)
{
    uint64_t high = (uint64_t)site >> KNOWN_BITS;
    uint64_t word =
        atomic_load_explicit(&unwind_rule_cache[(site ^ high) & (KNOWN - 1)], memory_order_relaxed);
    return LIKELY(word >> RULE_BITS == high && word) ? unwind_rule_unpack(word)
                                                     : unwind_rule_read(site);
}

/* Returns where the function begins that contains the address, or the part of it that has an unwind
 * table of its own; 0: it has none. Async-signal-safe. */
uintptr_t unwind_function_begin(uintptr_t site);
void unwind_rules_forget(void); /* Called when code was unloaded. */
/* Returns where the module that contains the address begins, and sets its size; 0: none is
 * known. */
uintptr_t unwind_rule_module(uintptr_t address, uintptr_t *bytes);

/* ---- places to which calls return first (profile/library_stubs.h) ---- */

/* 16 bytes apart; 8 bytes behind the begin of each is how far from there the true return address
 * is. */
struct unwind_return_places {
    uintptr_t from;
    size_t bytes; /* 0: there are none */
};
extern struct unwind_return_places unwind_return_places;

static inline uintptr_t unwind_true_return(uintptr_t back)
{
    if (LIKELY(back - unwind_return_places.from >= unwind_return_places.bytes))
        return back;
    uintptr_t distance = *(const uint32_t *)(back + 8);
    return *(const uintptr_t *)(back + 8 + distance);
}

/* ---- unwind tables of a module (.eh_frame_hdr and .eh_frame), x86-64 ---- They belong to the
 * program and may be malformed: nothing outside of the module is read, and what is not supported
 * counts as unknown. */

struct unwind_module {
    uintptr_t start, end; /* where it is mapped */
    uintptr_t header; /* its .eh_frame_hdr */
};

/* Finds the rule of a site; leaves it unchanged if it is unknown. */
void unwind_table_find_rule(const struct unwind_module *module, uintptr_t site,
                            struct unwind_rule *rule);

#pragma GCC visibility pop

#endif

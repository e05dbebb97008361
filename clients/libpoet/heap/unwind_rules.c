#define _GNU_SOURCE
#include "base/likely.h"
#include "clients/libpoet/heap/unwind_rules.h"

#include "clients/libpoet/heap/unwind_tables.h"

#include <dlfcn.h>
#include <stdatomic.h>

/* ---- cache: an address and its rule in one word ---- */

#define KNOWN_BITS 14u
#define KNOWN (1u << KNOWN_BITS)
#define UP_BITS 17u /* of eight bytes each */
#define SAVED_BITS 8u
#define RULE_BITS (2u + 1u + UP_BITS + SAVED_BITS)

static _Atomic uint64_t unwind_rule_cache[KNOWN];

static uint64_t unwind_rule_pack(struct unwind_rule rule)
{
    uint64_t up = rule.up / 8, saved = rule.saved / 8;
    if (rule.is == UNWIND_CALLED &&
        (rule.up % 8 || rule.saved % 8 || up >> UP_BITS || saved >> SAVED_BITS))
        return RULE_UNKNOWN;
    return (uint64_t)rule.is | (uint64_t)rule.by_frame << 2 | up << 3 | saved << (3 + UP_BITS);
}

static struct unwind_rule unwind_rule_unpack(uint64_t word)
{
    return (struct unwind_rule){(enum unwind_rule_kind)(word & 3), word >> 2 & 1,
                                (uint32_t)(word >> 3 & ((1u << UP_BITS) - 1)) * 8,
                                (uint32_t)(word >> (3 + UP_BITS) & ((1u << SAVED_BITS) - 1)) * 8};
}

#pragma weak _dl_find_object

static struct unwind_rule unwind_rule_find(uintptr_t site)
{
    struct unwind_rule rule = {.is = RULE_UNKNOWN};
#if defined(__x86_64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)
    struct dl_find_object object;
    if (_dl_find_object && _dl_find_object((void *)site, &object) == 0 && object.dlfo_eh_frame)
        unwind_table_find_rule(&(struct unwind_module){(uintptr_t)object.dlfo_map_start,
                                                       (uintptr_t)object.dlfo_map_end,
                                                       (uintptr_t)object.dlfo_eh_frame},
                               site, &rule);
#endif
    return rule;
}

/* The lower bits of an address are those of its index, mixed with higher ones that are stored. */
struct unwind_rule unwind_rule_get(uintptr_t site)
{
    uint64_t high = (uint64_t)site >> KNOWN_BITS;
    _Atomic uint64_t *at = &unwind_rule_cache[(site ^ high) & (KNOWN - 1)];
    uint64_t word = atomic_load_explicit(at, memory_order_relaxed);
    if (LIKELY(word >> RULE_BITS == high && word))
        return unwind_rule_unpack(word);
    struct unwind_rule rule = unwind_rule_find(site);
    if (!(high >> (64 - RULE_BITS)))
        atomic_store_explicit(at, high << RULE_BITS | unwind_rule_pack(rule), memory_order_relaxed);
    return rule.is == UNWIND_CALLED ? unwind_rule_unpack(unwind_rule_pack(rule)) : rule;
}

void unwind_rules_forget(void)
{
    for (uint32_t i = 0; i < KNOWN; i++)
        atomic_store_explicit(&unwind_rule_cache[i], 0, memory_order_relaxed);
}

uintptr_t unwind_rule_module(uintptr_t address, uintptr_t *bytes)
{
    *bytes = 0;
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    struct dl_find_object object;
    if (_dl_find_object && _dl_find_object((void *)address, &object) == 0) {
        *bytes = (uintptr_t)object.dlfo_map_end - (uintptr_t)object.dlfo_map_start;
        return (uintptr_t)object.dlfo_map_start;
    }
#endif
    (void)address;
    return 0;
}

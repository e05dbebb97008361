#define _GNU_SOURCE
#include "clients/libpoet/unwind/unwind_rules.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* ---- unwind tables: bytes ---- */

struct unwind_bytes {
    uintptr_t at, end;
    bool failed;
};

static uint64_t unwind_table_read(struct unwind_bytes *b, unsigned n)
{
    uint64_t v = 0;
    if (b->failed || b->end - b->at < n) {
        b->failed = true;
        return 0;
    }
    memcpy(&v, (const void *)b->at, n);
    b->at += n;
    return v;
}

static uint64_t unwind_table_read_uleb(struct unwind_bytes *b)
{
    uint64_t v = 0, byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && !b->failed; shift += 7) {
        byte = unwind_table_read(b, 1);
        v |= shift < 64 ? (byte & 0x7f) << shift : 0;
    }
    return v;
}

static int64_t unwind_table_read_sleb(struct unwind_bytes *b)
{
    uint64_t v = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && !b->failed; shift += 7) {
        byte = unwind_table_read(b, 1);
        v |= shift < 64 ? (byte & 0x7f) << shift : 0;
    }
    return (int64_t)(byte & 0x40 && shift < 64 ? v | ~(uint64_t)0 << shift : v);
}

#define PCREL_SDATA4 0x1bu
#define DATAREL_SDATA4 0x3bu
#define UDATA4 0x03u

static uintptr_t unwind_table_read_pcrel(struct unwind_bytes *b)
{
    uintptr_t from = b->at;
    return from + (uintptr_t)(int64_t)(int32_t)unwind_table_read(b, 4);
}

/* ---- finding the function ---- */

/* Finds the entry in the header's sorted table with the last function that begins no later than the
 * site; 0: none. */
static uintptr_t unwind_table_find_entry(const struct unwind_module *m, uintptr_t site)
{
    struct unwind_bytes b = {m->header, m->end, false};
    uint64_t version = unwind_table_read(&b, 1), frame_is = unwind_table_read(&b, 1),
             count_is = unwind_table_read(&b, 1), table_is = unwind_table_read(&b, 1);
    if (version != 1 || frame_is != PCREL_SDATA4 || count_is != UDATA4 ||
        table_is != DATAREL_SDATA4)
        return 0;
    unwind_table_read(&b, 4);
    uint64_t count = unwind_table_read(&b, 4);
    if (b.failed || !count || count > (m->end - b.at) / 8)
        return 0;
    uint64_t low = 0, high = count;
    for (int32_t begin; high - low > 1;) {
        uint64_t middle = low + (high - low) / 2;
        memcpy(&begin, (const void *)(b.at + middle * 8), 4);
        if (m->header + (uintptr_t)(int64_t)begin <= site)
            low = middle;
        else
            high = middle;
    }
    int32_t entry;
    memcpy(&entry, (const void *)(b.at + low * 8 + 4), 4);
    return m->header + (uintptr_t)(int64_t)entry;
}

static bool unwind_table_contains(const struct unwind_module *m, uintptr_t at)
{
    return at >= m->start && at < m->end;
}

/* Returns the bytes of an entry after its length. */
static struct unwind_bytes unwind_table_entry_bytes(const struct unwind_module *m, uintptr_t at)
{
    struct unwind_bytes b = {at, m->end, !unwind_table_contains(m, at)};
    uint64_t length = unwind_table_read(&b, 4);
    if (!length || length >= 0xfffffff0u || length > b.end - b.at)
        b.failed = true;
    else
        b.end = b.at + length;
    return b;
}

struct unwind_cie {
    uint64_t code, return_register;
    int64_t data;
    struct unwind_bytes first; /* instructions */
};

static bool unwind_table_read_cie(const struct unwind_module *m, uintptr_t at, struct unwind_cie *c)
{
    struct unwind_bytes b = unwind_table_entry_bytes(m, at);
    char words[8] = "";
    size_t n = 0;
    uint64_t id = unwind_table_read(&b, 4), version = unwind_table_read(&b, 1);
    while (n < sizeof words && (words[n] = (char)unwind_table_read(&b, 1)))
        n++;
    if (b.failed || id || (version != 1 && version != 3) || n == sizeof words || words[0] != 'z')
        return false;
    c->code = unwind_table_read_uleb(&b);
    c->data = unwind_table_read_sleb(&b);
    c->return_register = version == 1 ? unwind_table_read(&b, 1) : unwind_table_read_uleb(&b);
    uint64_t length = unwind_table_read_uleb(&b);
    uintptr_t behind = b.at + length;
    for (size_t i = 1; i < n; i++) {
        if (words[i] == 'R') {
            if (unwind_table_read(&b, 1) != PCREL_SDATA4)
                return false;
        } else if (words[i] == 'L') {
            unwind_table_read(&b, 1);
        } else if (words[i] == 'P') {
            unwind_table_read(&b, unwind_table_read(&b, 1) % 16 == 0 ? 8 : 4);
        } else {
            return false; /* of a signal's frame, or not known */
        }
    }
    if (b.failed || length > b.end - b.at + length || behind > b.end)
        return false;
    b.at = behind;
    c->first = b;
    return true;
}

/* ---- frame layout ---- */

#define REGISTER_FRAME 6u
#define REGISTER_STACK 7u
#define REGISTER_RETURN 16u
#define KEPT 4u /* nesting of remembered states */

struct unwind_layout {
    uint64_t by; /* the register above which it begins */
    int64_t up;
    int64_t saved; /* the caller's frame pointer is stored there; 0: it is in its register */
    bool outermost, unknown;
};

struct unwind_reading {
    const struct unwind_cie *common;
    struct unwind_layout now, first, kept[KEPT];
    unsigned kept_count;
    uintptr_t place;
};

/* Returns an offset that is stored as a multiple; one that is too large makes the rule unknown. */
static int64_t unwind_table_multiply(struct unwind_reading *r, int64_t factor)
{
    int64_t offset;
    if (!__builtin_mul_overflow(factor, r->common->data, &offset))
        return offset;
    r->now.unknown = true;
    return 0;
}

static void unwind_table_saved_at(struct unwind_reading *r, uint64_t is, int64_t factor)
{
    int64_t offset = unwind_table_multiply(r, factor);
    if (is == REGISTER_FRAME)
        r->now.saved = offset;
    else if (is == REGISTER_RETURN && offset != -8)
        r->now.unknown = true;
}

static void unwind_table_saved_elsewhere(struct unwind_reading *r, uint64_t is)
{
    if (is == REGISTER_FRAME || is == REGISTER_RETURN)
        r->now.unknown = true;
}

static void unwind_table_unchanged(struct unwind_reading *r, uint64_t is)
{
    if (is == REGISTER_FRAME)
        r->now.saved = r->first.saved;
}

static void unwind_table_save_state(struct unwind_reading *r)
{
    if (r->kept_count < KEPT)
        r->kept[r->kept_count++] = r->now;
    else
        r->now.unknown = true;
}

static void unwind_table_restore_state(struct unwind_reading *r)
{
    if (r->kept_count)
        r->now = r->kept[--r->kept_count];
    else
        r->now.unknown = true;
}

static void unwind_table_skip(struct unwind_bytes *b, uint64_t n)
{
    if (n > b->end - b->at)
        b->failed = true;
    else
        b->at += n;
}

/* Reads instructions for registers that are not tracked. */
static void unwind_table_read_rare(struct unwind_reading *r, struct unwind_bytes *b, uint64_t what)
{
    uint64_t is;
    switch (what) {
    case 0x05: /* offset_extended */
        is = unwind_table_read_uleb(b);
        unwind_table_saved_at(r, is, (int64_t)unwind_table_read_uleb(b));
        return;
    case 0x11: /* offset_extended_sf */
        is = unwind_table_read_uleb(b);
        unwind_table_saved_at(r, is, unwind_table_read_sleb(b));
        return;
    case 0x06: /* restore_extended */
        unwind_table_unchanged(r, unwind_table_read_uleb(b));
        return;
    case 0x07: /* undefined */
        is = unwind_table_read_uleb(b);
        r->now.outermost |= is == REGISTER_RETURN;
        if (is == REGISTER_FRAME)
            r->now.saved = 0;
        return;
    case 0x08: /* same_value */
        if (unwind_table_read_uleb(b) == REGISTER_FRAME)
            r->now.saved = 0;
        return;
    case 0x09: /* register */
        unwind_table_saved_elsewhere(r, unwind_table_read_uleb(b));
        unwind_table_read_uleb(b);
        return;
    case 0x10: /* expression */
    case 0x16: /* val_expression */
        unwind_table_saved_elsewhere(r, unwind_table_read_uleb(b));
        unwind_table_skip(b, unwind_table_read_uleb(b));
        return;
    case 0x2e: /* GNU_args_size */
        unwind_table_read_uleb(b);
        return;
    default:
        b->failed = true;
    }
}

static void unwind_table_read_one(struct unwind_reading *r, struct unwind_bytes *b, uint64_t what)
{
    switch (what) {
    case 0x00:
        return;
    case 0x02:
    case 0x03:
    case 0x04: /* advance_loc1, 2, 4 */
        r->place += (uintptr_t)(unwind_table_read(b, what == 2   ? 1
                                                     : what == 3 ? 2
                                                                 : 4) *
                                r->common->code);
        return;
    case 0x0a:
        unwind_table_save_state(r);
        return;
    case 0x0b:
        unwind_table_restore_state(r);
        return;
    case 0x0c: /* def_cfa */
        r->now.by = unwind_table_read_uleb(b);
        r->now.up = (int64_t)unwind_table_read_uleb(b);
        return;
    case 0x0d:
        r->now.by = unwind_table_read_uleb(b);
        return;
    case 0x0e:
        r->now.up = (int64_t)unwind_table_read_uleb(b);
        return;
    case 0x12: /* def_cfa_sf */
        r->now.by = unwind_table_read_uleb(b);
        r->now.up = unwind_table_multiply(r, unwind_table_read_sleb(b));
        return;
    case 0x13:
        r->now.up = unwind_table_multiply(r, unwind_table_read_sleb(b));
        return;
    case 0x0f: /* def_cfa_expression */
        r->now.by = UINT64_MAX;
        unwind_table_skip(b, unwind_table_read_uleb(b));
        return;
    default:
        unwind_table_read_rare(r, b, what);
    }
}

/* Up to the address. */
static bool unwind_table_read_until(struct unwind_reading *r, struct unwind_bytes b, uintptr_t site)
{
    while (b.at < b.end && !b.failed) {
        uint64_t what = unwind_table_read(&b, 1), low = what & 0x3f;
        if (what >> 6 == 1)
            r->place += (uintptr_t)(low * r->common->code);
        else if (what >> 6 == 2)
            unwind_table_saved_at(r, low, (int64_t)unwind_table_read_uleb(&b));
        else if (what >> 6 == 3)
            unwind_table_unchanged(r, low);
        else
            unwind_table_read_one(r, &b, what);
        if (r->place > site)
            break;
    }
    return !b.failed;
}

static void unwind_table_make_rule(const struct unwind_layout *l, struct unwind_rule *rule)
{
    if (l->outermost) {
        rule->is = UNWIND_OUTERMOST;
    } else if (!l->unknown && (l->by == REGISTER_FRAME || l->by == REGISTER_STACK) && l->up >= 8 &&
               l->up < INT32_MAX && l->saved <= 0 && l->saved > -INT32_MAX) {
        rule->is = UNWIND_CALLED;
        rule->by_frame = l->by == REGISTER_FRAME;
        rule->up = (uint32_t)l->up;
        rule->saved = (uint32_t)-l->saved;
    }
}

/* Finds the function that contains a site. Returns its begin, and sets its instructions and what it
 * has in common with others; 0: there is none. */
static uintptr_t unwind_table_find_function(const struct unwind_module *m, uintptr_t site,
                                            struct unwind_bytes *instructions,
                                            struct unwind_cie *common)
{
    uintptr_t entry = unwind_table_contains(m, m->header) ? unwind_table_find_entry(m, site) : 0;
    struct unwind_bytes b = unwind_table_entry_bytes(m, entry);
    uintptr_t from = b.at;
    uint64_t back = unwind_table_read(&b, 4);
    if (b.failed || !back || !unwind_table_read_cie(m, from - (uintptr_t)back, common))
        return 0;
    uintptr_t begin = unwind_table_read_pcrel(&b);
    uint64_t length = unwind_table_read(&b, 4);
    unwind_table_skip(&b, unwind_table_read_uleb(&b));
    *instructions = b;
    return b.failed || site < begin || site - begin >= length ? 0 : begin;
}

void unwind_table_find_rule(const struct unwind_module *m, uintptr_t site, struct unwind_rule *rule)
{
    struct unwind_bytes b;
    struct unwind_cie common;
    uintptr_t begin = unwind_table_find_function(m, site, &b, &common);
    struct unwind_reading r = {.common = &common, .place = 0};
    if (!begin || common.return_register != REGISTER_RETURN ||
        !unwind_table_read_until(&r, common.first, UINTPTR_MAX))
        return;
    r.first = r.now;
    r.place = begin;
    if (unwind_table_read_until(&r, b, site))
        unwind_table_make_rule(&r.now, rule);
}

/* ---- cache ---- */

_Atomic uint64_t unwind_rule_cache[KNOWN];
struct unwind_return_places unwind_return_places;

static uint64_t unwind_rule_pack(struct unwind_rule rule)
{
    uint64_t up = rule.up / 8, saved = rule.saved / 8;
    if (rule.is == UNWIND_CALLED &&
        (rule.up % 8 || rule.saved % 8 || up >> UP_BITS || saved >> SAVED_BITS))
        return RULE_UNKNOWN;
    return (uint64_t)rule.is | (uint64_t)rule.by_frame << 2 | up << 3 | saved << (3 + UP_BITS);
}

#pragma weak _dl_find_object

/* Returns the unwind tables of the module that contains the site; header 0: there are none. */
static struct unwind_module unwind_module_find(uintptr_t site)
{
#if defined(__x86_64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)
    struct dl_find_object object;
    if (_dl_find_object && _dl_find_object((void *)site, &object) == 0)
        return (struct unwind_module){(uintptr_t)object.dlfo_map_start,
                                      (uintptr_t)object.dlfo_map_end,
                                      (uintptr_t)object.dlfo_eh_frame};
#endif
    (void)site;
    return (struct unwind_module){0};
}

static struct unwind_rule unwind_rule_find(uintptr_t site)
{
    struct unwind_rule rule = {.is = RULE_UNKNOWN};
    struct unwind_module module = unwind_module_find(site);
    if (module.header)
        unwind_table_find_rule(&module, site, &rule);
    return rule;
}

struct unwind_rule unwind_rule_read(uintptr_t site)
{
    uint64_t high = (uint64_t)site >> KNOWN_BITS;
    struct unwind_rule rule = unwind_rule_find(site);
    if (!(high >> (64 - RULE_BITS)))
        atomic_store_explicit(&unwind_rule_cache[(site ^ high) & (KNOWN - 1)],
                              high << RULE_BITS | unwind_rule_pack(rule), memory_order_relaxed);
    return rule.is == UNWIND_CALLED ? unwind_rule_unpack(unwind_rule_pack(rule)) : rule;
}

/* ---- functions ---- */

#define BEGINS_KNOWN 4096u
#define BEGIN_BITS 16u

/* An address and how far it is from its function's begin, in one word; 0: none. */
static _Atomic uint64_t unwind_begin_cache[BEGINS_KNOWN];

uintptr_t unwind_function_begin(uintptr_t site)
{
    _Atomic uint64_t *known =
        &unwind_begin_cache[(site * 0x9e3779b97f4a7c15u >> 32) % BEGINS_KNOWN];
    uint64_t word = atomic_load_explicit(known, memory_order_relaxed);
    if (word >> BEGIN_BITS == site && word)
        return site - (uintptr_t)(word & ((1u << BEGIN_BITS) - 1));
    struct unwind_module module = unwind_module_find(site);
    struct unwind_bytes instructions;
    struct unwind_cie common;
    uintptr_t begin =
        module.header ? unwind_table_find_function(&module, site, &instructions, &common) : 0;
    if (begin && site - begin < 1u << BEGIN_BITS && !((uint64_t)site >> (64 - BEGIN_BITS)))
        atomic_store_explicit(known, (uint64_t)site << BEGIN_BITS | (site - begin),
                              memory_order_relaxed);
    return begin;
}

void unwind_rules_forget(void)
{
    for (uint32_t i = 0; i < KNOWN; i++)
        atomic_store_explicit(&unwind_rule_cache[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < BEGINS_KNOWN; i++)
        atomic_store_explicit(&unwind_begin_cache[i], 0, memory_order_relaxed);
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

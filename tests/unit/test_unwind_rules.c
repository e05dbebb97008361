/* Unwind rules: those of this program and its libraries are the ones that libdw reads; malformed
 * tables are not left. */
#define _GNU_SOURCE
#include "clients/libpoet/unwind/unwind_rules.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__

#define SITES_OF_MODULE 4000u

enum { FRAME = 6, STACK = 7, RETURN = 16 };

struct loaded {
    struct unwind_module module;
    uintptr_t bias;
    char path[512];
};

struct all_loaded {
    struct loaded items[32];
    unsigned count;
};

static int take_module(struct dl_phdr_info *info, size_t size, void *user)
{
    struct all_loaded *all = user;
    struct loaded l = {.bias = info->dlpi_addr, .module = {.start = UINTPTR_MAX}};
    (void)size;
    snprintf(l.path, sizeof l.path, "%s", *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD) {
            l.module.start = at < l.module.start ? at : l.module.start;
            l.module.end = at + h->p_memsz > l.module.end ? at + h->p_memsz : l.module.end;
        }
        if (h->p_type == PT_GNU_EH_FRAME)
            l.module.header = at;
    }
    if (l.module.header && access(l.path, R_OK) == 0 && all->count < 32)
        all->items[all->count++] = l;
    return 0;
}

/* Returns the begin of the function at an index of the header's table. */
static uintptr_t function_begin(const struct loaded *l, uint32_t i)
{
    int32_t begin;
    memcpy(&begin, (const char *)l->module.header + 12 + (size_t)i * 8, 4);
    return l->module.header + (uintptr_t)(intptr_t)begin;
}

static uint32_t function_count(const struct loaded *l)
{
    uint32_t count;
    memcpy(&count, (const char *)l->module.header + 8, 4);
    return count;
}

/* Gets the rule of a register: stored at an offset from the begin of the frame, or unchanged (0).
 * Returns false for any other. */
static bool register_rule(Dwarf_Frame *frame, int number, int64_t *offset, bool *undefined)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    *undefined = false;
    if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
        return false;
    *offset = 0;
    *undefined = !count && ops == memory;
    if (!count)
        return true;
    if (ops != memory || count > 2 || memory[0].atom != DW_OP_call_frame_cfa)
        return false;
    *offset = count == 2 ? (int64_t)memory[1].number : 0;
    return count == 1 || memory[1].atom == DW_OP_plus_uconst;
}

/* Returns the rule that libdw's frame has. */
static struct unwind_rule rule_of(Dwarf_Frame *frame)
{
    struct unwind_rule rule = {.is = RULE_UNKNOWN};
    Dwarf_Addr begin, end;
    bool signal, no_return, no_frame;
    Dwarf_Op *ops;
    size_t count;
    int64_t saved, returns;
    if (dwarf_frame_info(frame, &begin, &end, &signal) != RETURN || signal)
        return rule;
    bool returns_known = register_rule(frame, RETURN, &returns, &no_return),
         frame_known = register_rule(frame, FRAME, &saved, &no_frame);
    if (returns_known && no_return) {
        rule.is = UNWIND_OUTERMOST;
        return rule;
    }
    if (!returns_known || returns != -8 || !frame_known ||
        dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1 || ops->atom != DW_OP_bregx ||
        (ops->number != FRAME && ops->number != STACK) || (int64_t)ops->number2 < 8)
        return rule;
    rule = (struct unwind_rule){.is = UNWIND_CALLED,
                                .by_frame = ops->number == FRAME,
                                .up = (uint32_t)ops->number2,
                                .saved = (uint32_t)-saved};
    return rule;
}

static void is_rule(struct unwind_rule is, struct unwind_rule wanted)
{
    assert_int_equal(is.is, wanted.is);
    assert_int_equal(is.by_frame, wanted.by_frame);
    assert_int_equal(is.up, wanted.up);
    assert_int_equal(is.saved, wanted.saved);
}

/* Compares sites all over the module; returns how many have a rule. */
static unsigned compare_module(const struct loaded *l)
{
    int fd = open(l->path, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Dwarf_CFI *tables = elf ? dwarf_getcfi_elf(elf) : NULL;
    uint32_t functions = function_count(l);
    unsigned random = 1, ruled = 0;
    assert_non_null(tables);
    assert_true(functions > 0);
    for (unsigned i = 0; i < SITES_OF_MODULE; i++) {
        uint32_t function = execution_random(&random, functions);
        uintptr_t begin = function_begin(l, function),
                  end = function + 1 < functions ? function_begin(l, function + 1) : begin + 64,
                  site = begin + execution_random(&random, (unsigned)(end - begin + 1));
        Dwarf_Frame *frame = NULL;
        struct unwind_rule is = {.is = RULE_UNKNOWN}, wanted = is;
        if (dwarf_cfi_addrframe(tables, site - l->bias, &frame) == 0)
            wanted = rule_of(frame);
        free(frame);
        unwind_table_find_rule(&l->module, site, &is);
        is_rule(is, wanted);
        uintptr_t function_is = unwind_function_begin(begin);
        assert_true(function_is == begin || !function_is); /* (0: the loader does not know it) */
        ruled += is.is != RULE_UNKNOWN;
    }
    dwarf_cfi_end(tables);
    elf_end(elf);
    close(fd);
    return ruled;
}

static void the_rules_are_those_of_libdw(void **state)
{
    struct all_loaded all = {.count = 0};
    unsigned ruled = 0;
    (void)state;
    elf_version(EV_CURRENT);
    dl_iterate_phdr(take_module, &all);
    assert_true(all.count >= 2); /* the program, and the C library */
    for (unsigned i = 0; i < all.count; i++)
        ruled += compare_module(&all.items[i]);
    assert_true(ruled > all.count * SITES_OF_MODULE / 2);
}

static void outside_of_functions_no_rule_is_known(void **state)
{
    struct all_loaded all = {.count = 0};
    struct unwind_rule rule = {.is = RULE_UNKNOWN};
    (void)state;
    dl_iterate_phdr(take_module, &all);
    struct unwind_module *m = &all.items[0].module;
    uintptr_t first = function_begin(&all.items[0], 0);
    unwind_table_find_rule(m, first - 1, &rule);
    assert_int_equal(rule.is, RULE_UNKNOWN);
    unwind_table_find_rule(m, m->end, &rule);
    assert_int_equal(rule.is, RULE_UNKNOWN);
    m->header = m->end; /* it has no header */
    unwind_table_find_rule(m, first, &rule);
    assert_int_equal(rule.is, RULE_UNKNOWN);
}

/* ---- written by hand ---- */

#define FUNCTION 256 /* where it begins; it has 16 bytes */
#define INSTRUCTIONS 61

/* Writes a header with one function, a CIE at byte 20, and an FDE at 44 with the instructions. */
static void write_tables(uint8_t *all, uint8_t data_align, const uint8_t *instructions,
                         size_t count)
{
    static const char tables[INSTRUCTIONS + 1] =
        "\1\x1b\3\x3b" /* formats */
        "\x10\0\0\0\1\0\0\0" /* .eh_frame; number of functions */
        "\0\1\0\0\x2c\0\0\0" /* the function, and its entry */
        "\x14\0\0\0\0\0\0\0" /* CIE: length, id */
        "\1zR\0\1?\x10\1\x1b" /* return address: register 16 */
        "\x0c\7\x08" /* the frame begins 8 bytes above register 7 */
        "\x90\1\0\0" /* the return address is 8 bytes below */
        "?\0\0\0\x1c\0\0\0" /* FDE: length, CIE */
        "\xcc\0\0\0\x10\0\0\0\0"; /* the function, its bytes */
    memcpy(all, tables, INSTRUCTIONS);
    all[33] = data_align;
    all[44] = (uint8_t)(13 + count);
    memcpy(all + INSTRUCTIONS, instructions, count);
}

static struct unwind_rule rule_at(const uint8_t *tables, size_t size, unsigned site)
{
    struct unwind_rule rule = {.is = RULE_UNKNOWN};
    uintptr_t at = (uintptr_t)tables;
    unwind_table_find_rule(&(struct unwind_module){at, at + size, at}, at + FUNCTION + site, &rule);
    return rule;
}

static struct unwind_rule rule_by(uint8_t data_align, const uint8_t *instructions, size_t count,
                                  unsigned site)
{
    uint8_t all[INSTRUCTIONS + 64];
    write_tables(all, data_align, instructions, count);
    return rule_at(all, INSTRUCTIONS + count, site);
}

#define RULE(site, ...)                                                                            \
    rule_by(0x78, (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, site)
#define CALLED(by, bytes, at) ((struct unwind_rule){UNWIND_CALLED, by, bytes, at})

/* push %rbp; mov %rsp, %rbp; ...; leave; ret */
#define PUSH 0x41, 0x0e, 16, 0x86, 2
#define MOVE 0x43, 0x0d, FRAME
#define LEAVE 0x4a, 0x0c, STACK, 8

static void the_rule_changes_with_the_site(void **state)
{
    (void)state;
    is_rule(RULE(0, PUSH, MOVE, LEAVE), CALLED(false, 8, 0));
    is_rule(RULE(1, PUSH, MOVE, LEAVE), CALLED(false, 16, 16));
    is_rule(RULE(3, PUSH, MOVE, LEAVE), CALLED(false, 16, 16));
    is_rule(RULE(4, PUSH, MOVE, LEAVE), CALLED(true, 16, 16));
    is_rule(RULE(14, PUSH, MOVE, LEAVE), CALLED(false, 8, 16));
    is_rule(RULE(15, PUSH, MOVE, LEAVE, 0xc0 | FRAME), CALLED(false, 8, 0));
    assert_int_equal(RULE(16, PUSH, MOVE, LEAVE).is, RULE_UNKNOWN);
}

static void a_state_is_remembered(void **state)
{
    (void)state;
    is_rule(RULE(15, PUSH, MOVE, 0x0a, 0x44, 0x0c, STACK, 8, 0x44, 0x0b), CALLED(true, 16, 16));
    is_rule(RULE(9, PUSH, MOVE, 0x0a, 0x44, 0x0c, STACK, 8, 0x44, 0x0b), CALLED(false, 8, 16));
    assert_int_equal(RULE(0, 0x0b).is, RULE_UNKNOWN); /* none is remembered */
}

static void what_is_not_supported_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(RULE(0, 0x07, RETURN).is, UNWIND_OUTERMOST);
    assert_int_equal(RULE(0, 0x80 | RETURN, 2).is, RULE_UNKNOWN);
    assert_int_equal(RULE(0, 0x0d, 3).is, RULE_UNKNOWN);
    assert_int_equal(RULE(0, 0x0f, 1, 0x50).is, RULE_UNKNOWN);
    assert_int_equal(RULE(0, 0x10, FRAME, 1, 0x50).is, RULE_UNKNOWN);
    assert_int_equal(RULE(0, 0x10, 3, 1, 0x50).is, UNWIND_CALLED); /* of another register */
    assert_int_equal(RULE(0, 0x3f).is, RULE_UNKNOWN);
    assert_int_equal(RULE(0, 0x0e, 7).is, RULE_UNKNOWN);
}

static void offsets_too_large_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(RULE(0, 0x86, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f).is,
                     RULE_UNKNOWN);
    assert_int_equal(RULE(0, 0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f).is,
                     RULE_UNKNOWN);
    assert_int_equal(RULE(0, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x20).is, RULE_UNKNOWN);
}

/* AddressSanitizer finds what is read behind the end. */
static void truncated_tables_are_unknown(void **state)
{
    static const uint8_t whole[] = {PUSH, MOVE, LEAVE};
    uint8_t all[INSTRUCTIONS + sizeof whole];
    (void)state;
    write_tables(all, 0x78, whole, sizeof whole);
    for (size_t size = 1; size <= sizeof all; size++) {
        uint8_t *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, all, size);
        assert_int_equal(rule_at(copy, size, 15).is,
                         size < sizeof all ? RULE_UNKNOWN : UNWIND_CALLED);
        free(copy);
    }
}

/* (as above) */
static void malformed_tables_are_not_left(void **state)
{
    struct all_loaded all = {.count = 0};
    unsigned random = 7;
    (void)state;
    dl_iterate_phdr(take_module, &all);
    const struct loaded *l = &all.items[0];
    size_t size = 16384; /* the header of this program is smaller; more is behind it */
    assert_true(l->module.end - l->module.header > size);
    uint32_t functions = function_count(l);
    for (unsigned round = 0; round < 3000; round++) {
        size_t kept = 12 + execution_random(&random, (unsigned)size - 12);
        uint8_t *copy = malloc(kept);
        assert_non_null(copy);
        memcpy(copy, (const void *)l->module.header, kept);
        if (kept > 12 + 8) { /* of few functions, so that the entries are in the copy */
            uint32_t few = 1 + execution_random(&random, 8);
            int32_t entry = (int32_t)execution_random(&random, (unsigned)kept);
            memcpy(copy + 8, &few, 4);
            for (uint32_t i = 0; i < few && 20 + 8 * i <= kept; i++)
                memcpy(copy + 16 + (size_t)8 * i, &entry, 4);
        }
        for (unsigned i = execution_random(&random, 20); i > 0; i--)
            copy[12 + execution_random(&random, (unsigned)kept - 12)] =
                (uint8_t)execution_random(&random, 256);
        struct unwind_module m = {(uintptr_t)copy, (uintptr_t)copy + kept, (uintptr_t)copy};
        for (unsigned i = 0; i < 8; i++) {
            struct unwind_rule rule = {.is = RULE_UNKNOWN};
            uintptr_t begin = function_begin(l, execution_random(&random, functions));
            unwind_table_find_rule(&m, m.header + (begin - l->module.header), &rule);
            assert_true(rule.is != RULE_NONE);
        }
        free(copy);
    }
}

/* As many changes of well-formed instructions. */
static void malformed_instructions_end(void **state)
{
    static const uint8_t whole[] = {PUSH, MOVE, 0x0a, 0x41, 0x0c, STACK, 8, 0x0b, LEAVE};
    unsigned random = 3;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t bytes[sizeof whole + 24];
        size_t count = execution_random(&random, sizeof bytes + 1);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = i < sizeof whole ? whole[i] : (uint8_t)execution_random(&random, 256);
        for (unsigned i = execution_random(&random, 6); i > 0; i--)
            bytes[execution_random(&random, sizeof bytes)] =
                (uint8_t)execution_random(&random, 256);
        struct unwind_rule rule = rule_by((uint8_t)execution_random(&random, 128), bytes, count,
                                          execution_random(&random, 20));
        assert_true(rule.is != UNWIND_CALLED || rule.up >= 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_are_those_of_libdw),
        cmocka_unit_test(outside_of_functions_no_rule_is_known),
        cmocka_unit_test(the_rule_changes_with_the_site),
        cmocka_unit_test(a_state_is_remembered),
        cmocka_unit_test(what_is_not_supported_is_unknown),
        cmocka_unit_test(offsets_too_large_are_unknown),
        cmocka_unit_test(truncated_tables_are_unknown),
        cmocka_unit_test(malformed_tables_are_not_left),
        cmocka_unit_test(malformed_instructions_end),
    };
    return cmocka_run_group_tests_name("unwinding", tests, NULL, NULL);
}

#else

int main(void) { return cmocka_run_group_tests_name("unwinding", NULL, NULL, NULL); }

#endif

/* Unwind rules: the layout of a function's frame at an address of its code, from which its caller
 * is found. A rule is read from the unwind tables of compilers (.eh_frame; System V ABI, DWARF 5,
 * 6.4), once for each address, and cached. Where an address has no such table, or one with
 * instructions that are not supported here, the rule is unknown. */
#ifndef CLIENTS_LIBPOET_HEAP_UNWIND_RULES_H
#define CLIENTS_LIBPOET_HEAP_UNWIND_RULES_H

#include <stdbool.h>
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

/* Returns the rule of an address within a call. Does not allocate. */
struct unwind_rule unwind_rule_get(uintptr_t site);
void unwind_rules_forget(void); /* Called when code was unloaded. */
/* Returns where the module that contains the address begins, and sets its size; 0: none is
 * known. */
uintptr_t unwind_rule_module(uintptr_t address, uintptr_t *bytes);

#pragma GCC visibility pop
#endif

/* How the frame of a function is laid out at a place of its code: from there who called it is
 * found.
 *
 * That is read out of the tables that compilers write for exceptions (.eh_frame; System V ABI,
 * DWARF 5, 6.4), once for each place, and kept.  Where a place has no such table, or one that says
 * more than is understood here, it is unknown. */
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
    /* the caller's frame pointer is that many bytes below that; 0: it is as it is */
    uint32_t saved;
};

/* Of an address within a call.  Allocates nothing, calls nothing that does. */
struct unwind_rule unwind_rule_get(uintptr_t site);
void unwind_rules_forget(void); /* code has gone */
/* Where the module that has the address begins, and how many bytes it has; 0: none is known. */
uintptr_t unwind_rule_module(uintptr_t address, uintptr_t *bytes);

#pragma GCC visibility pop
#endif

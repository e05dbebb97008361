/* The tables of a module that say how frames are laid out (.eh_frame_hdr and .eh_frame), x86-64.
 *
 * They are the program's and need not be right: nothing outside of the module is read, and what is
 * not understood is unknown. */
#ifndef CLIENTS_LIBPOET_HEAP_UNWIND_TABLES_H
#define CLIENTS_LIBPOET_HEAP_UNWIND_TABLES_H

#include "clients/libpoet/heap/unwind_rules.h"

#pragma GCC visibility push(hidden)

struct unwind_module {
    uintptr_t start, end; /* where it is mapped */
    uintptr_t header; /* its .eh_frame_hdr */
};

/* What is not known leaves the rule as it is. */
void unwind_table_find_rule(const struct unwind_module *module, uintptr_t site,
                            struct unwind_rule *rule);

#pragma GCC visibility pop
#endif

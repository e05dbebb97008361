/* Reader of a module's unwind tables (.eh_frame_hdr and .eh_frame), x86-64. They belong to the
 * program and may be malformed: nothing outside of the module is read, and what is not supported
 * counts as unknown. */
#ifndef CLIENTS_LIBPOET_HEAP_UNWIND_TABLES_H
#define CLIENTS_LIBPOET_HEAP_UNWIND_TABLES_H

#include "clients/libpoet/heap/unwind_rules.h"

#pragma GCC visibility push(hidden)

struct unwind_module {
    uintptr_t start, end; /* where it is mapped */
    uintptr_t header; /* its .eh_frame_hdr */
};

/* Finds the rule of a site; leaves it unchanged if it is unknown. */
void unwind_table_find_rule(const struct unwind_module *module, uintptr_t site,
                            struct unwind_rule *rule);

#pragma GCC visibility pop
#endif

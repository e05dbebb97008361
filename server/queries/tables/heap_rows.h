/* Rows of the table of memory: allocations, grouped by where they were made. */
#ifndef SERVER_QUERIES_TABLES_HEAP_ROWS_H
#define SERVER_QUERIES_TABLES_HEAP_ROWS_H

#include "server/queries/tables/table_query.h"
#include "server/run/heap_totals.h"

/* A stack as it is shown: from the innermost call site outside the system's libraries. */
struct heap_row_stack {
    uint64_t site; /* 0: unknown */
    const char *library; /* the library of that site, or "" */
    uint64_t sites[HEAP_DEPTH]; /* from that site on, the innermost first */
    uint32_t count;
    uint32_t end; /* an enum heap_node_kind */
    bool own; /* only the C library and the loader, or allocated before counting began */
};

struct heap_row_stack heap_rows_stack(const struct run *run, uint32_t process, uint32_t node);
void heap_rows_context(struct result_table *table, const struct heap_row_stack *stack,
                       uint32_t process);

/* The block of a sum that was allocated first and never freed. */
struct heap_row_first {
    /* the thread's event before the allocation: heap_rows_before(); line 0: unknown */
    struct event_id event;
    int64_t at_ns;
};

struct heap_row {
    struct heap_allocated sum;
    struct heap_row_stack stack;
    struct heap_row_first first; /* among the blocks of the sum that are known individually */
};

/* Returns the thread's last event that is known to be before the allocation of a block: the
 * recorded one (number 0: none) or, if events followed that only the server numbers, the last one
 * up to the recorded time. line 0: none. */
struct event_id heap_rows_before(const struct run *run, uint32_t thread, uint32_t event,
                                 int64_t at_ns);
/* Returns the first blocks by index of the sum (heap_totals_at()), in new memory. */
struct heap_row_first *heap_rows_firsts(const struct run *run);

void heap_rows_add(struct heap_allocated *into, const struct heap_allocated *sum);
/* Merges rows that are equal by `order`; returns how many are left. */
size_t heap_rows_merge(struct heap_row *rows, size_t n, int (*order)(const void *, const void *));
int heap_rows_by_place(const void *a, const void *b);
int heap_rows_by_stack(const void *a, const void *b);
int heap_rows_by_library(const void *a, const void *b);
int heap_rows_by_thread(const void *a, const void *b);

/* All stacks as one tree, the outermost call site first. */
struct heap_row_node {
    uint32_t parent, child, sibling; /* 0: none; node 0 is the root */
    uint32_t process;
    uint64_t site;
    struct heap_allocated sum; /* including all descendants */
};
struct heap_row_tree {
    struct heap_row_node *nodes;
    size_t count, room;
};
void heap_rows_grow(struct heap_row_tree *tree, const struct heap_row *row);
void heap_rows_tree_free(struct heap_row_tree *tree); /* frees the memory; it is empty then */

#endif

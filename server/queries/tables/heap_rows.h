/* Rows of the table of memory: what was taken, by what it is told by. */
#ifndef SERVER_QUERIES_TABLES_HEAP_ROWS_H
#define SERVER_QUERIES_TABLES_HEAP_ROWS_H

#include "server/queries/tables/table_query.h"
#include "server/run/heap_totals.h"

/* A stack as it is told: by the innermost place that is not of a library of the system. */
struct heap_row_stack {
    uint64_t site; /* 0: none is known */
    const char *library; /* whose it is, "" */
    uint64_t sites[HEAP_DEPTH]; /* from that place on, the innermost first */
    uint32_t count;
    uint32_t end; /* an enum heap_node_kind */
    bool own; /* of the C library and the loader alone, or from before counting began */
};

struct heap_row_stack heap_rows_stack(const struct run *run, uint32_t process, uint32_t node);
void heap_rows_context(struct result_table *table, const struct heap_row_stack *stack,
                       uint32_t process);

/* The block of a sum that was taken first and never given back. */
struct heap_row_first {
    /* of its thread, before that: heap_rows_before; line 0: it is not known */
    struct event_id event;
    int64_t at_ns;
};

struct heap_row {
    struct heap_allocated sum;
    struct heap_row_stack stack;
    struct heap_row_first first; /* of those of the sum that are known one by one */
};

/* The thread's last event that is known to be before a block that it took: the one that it told
 * (number 0: none), or, where others came since that only the server numbers, the last up to the
 * time that the clock had shown.  line 0: none. */
struct event_id heap_rows_before(const struct run *run, uint32_t thread, uint32_t event,
                                 int64_t at_ns);
/* By the index of the sum (heap_totals_at).  New memory. */
struct heap_row_first *heap_rows_firsts(const struct run *run);

void heap_rows_add(struct heap_allocated *into, const struct heap_allocated *sum);
/* Rows that are the same by `order` become one; how many are left. */
size_t heap_rows_merge(struct heap_row *rows, size_t n, int (*order)(const void *, const void *));
int heap_rows_by_place(const void *a, const void *b);
int heap_rows_by_stack(const void *a, const void *b);
int heap_rows_by_library(const void *a, const void *b);
int heap_rows_by_thread(const void *a, const void *b);

/* All stacks as one tree, the outermost place first. */
struct heap_row_node {
    uint32_t parent, child, sibling; /* 0: none; node 0 is above all */
    uint32_t process;
    uint64_t site;
    struct heap_allocated sum; /* with all below it */
};
struct heap_row_tree {
    struct heap_row_node *nodes;
    size_t count, room;
};
void heap_rows_grow(struct heap_row_tree *tree, const struct heap_row *row);
void heap_rows_tree_free(struct heap_row_tree *tree); /* empties it */

/* While it is read the program goes on: what is freed may be known, and that it was taken not
 * yet. */
uint64_t heap_notes_difference(uint64_t taken, uint64_t freed);
uint64_t heap_notes_blocks_left(const struct heap_allocated *sum); /* blocks */
struct table_cell heap_notes_program(const struct table_view *view, uint32_t process);
/* Notes: how far stacks are known, what there was at most, what is left out (`apart`), unseen or
 * unknown. */
void heap_notes_add_depth(const struct heap_row *rows, size_t n, struct result_table *table);
void heap_notes_add(const struct table_view *view, struct result_table *table,
                    const struct heap_allocated *apart);

#endif

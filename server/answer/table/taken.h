/* Rows of the table of memory: what was taken, by what it is told by. */
#ifndef SERVER_ANSWER_TABLE_TAKEN_H
#define SERVER_ANSWER_TABLE_TAKEN_H

#include "server/answer/table/table.h"
#include "server/run/heap.h"

/* A stack as it is told: by the innermost place that is not of a library of the system. */
struct taken_stack {
    uint64_t site; /* 0: none is known */
    const char *library; /* whose it is, "" */
    uint64_t sites[HEAP_DEPTH]; /* from that place on, the innermost first */
    uint32_t count;
    uint32_t end; /* an enum heap_node_is */
    bool own; /* of the C library and the loader alone, or from before counting began */
};

struct taken_stack taken_stack(const struct run *run, uint32_t process, uint32_t node);
void taken_context(struct shown_table *table, const struct taken_stack *stack, uint32_t process);

/* The block of a sum that was taken first and never given back. */
struct taken_first {
    struct ref event; /* of its thread, before that: taken_before; line 0: it is not known */
    int64_t at_ns;
};

struct taken_row {
    struct heap_taken sum;
    struct taken_stack stack;
    struct taken_first first; /* of those of the sum that are known one by one */
};

/* The thread's last event that is known to be before a block that it took: the one that it told (number 0: none), or, where
 * others came since that only the server numbers, the last up to the time that the clock had shown.  line 0: none. */
struct ref taken_before(const struct run *run, uint32_t thread, uint32_t event, int64_t at_ns);
/* By the index of the sum (heap_at).  New memory. */
struct taken_first *taken_firsts(const struct run *run);

void taken_add(struct heap_taken *into, const struct heap_taken *sum);
/* Rows that are the same by `order` become one; how many are left. */
size_t taken_merge(struct taken_row *rows, size_t n, int (*order)(const void *, const void *));
int taken_by_place(const void *a, const void *b);
int taken_by_stack(const void *a, const void *b);
int taken_by_library(const void *a, const void *b);
int taken_by_thread(const void *a, const void *b);

/* All stacks as one tree, the outermost place first. */
struct taken_node {
    uint32_t parent, child, sibling; /* 0: none; node 0 is above all */
    uint32_t process;
    uint64_t site;
    struct heap_taken sum; /* with all below it */
};
struct taken_tree {
    struct taken_node *nodes;
    size_t count, room;
};
void taken_grow(struct taken_tree *tree, const struct taken_row *row);
void taken_tree_free(struct taken_tree *tree); /* empties it */

/* While it is read the program goes on: what is freed may be known, and that it was taken not yet. */
uint64_t taken_rest(uint64_t taken, uint64_t freed);
uint64_t taken_left(const struct heap_taken *sum); /* blocks */
struct table_cell taken_program(const struct table_view *view, uint32_t process);
/* Notes: how far stacks are known, what there was at most, what is left out (`apart`), unseen or unknown. */
void taken_say_depth(const struct taken_row *rows, size_t n, struct shown_table *table);
void taken_say(const struct table_view *view, struct shown_table *table,
               const struct heap_taken *apart);

#endif

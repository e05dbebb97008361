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

struct taken_row {
    struct heap_taken sum;
    struct taken_stack stack;
};

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

#endif

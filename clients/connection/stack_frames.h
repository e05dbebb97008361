/* The functions at a place of the code, those that the compiler inlined there, too, as frames of
 * a stack; and a tree of such places with a row for each of them. */
#ifndef CLIENTS_CONNECTION_STACK_FRAMES_H
#define CLIENTS_CONNECTION_STACK_FRAMES_H

#include "clients/connection/result_table.h"

/* How many, at least 1; and one of them in words, 0 the innermost: "f (a.c:3)"; new memory. */
uint32_t stack_frames_count(const struct table_names *names, struct table_place place);
char *stack_frames_text(const struct table_names *names, struct table_place place, uint32_t frame);

/* Of a table whose rows are calls, those made by each below it (depth), with their sums: what a
 * call was inlined in gets a row above it.  `scope`: the column of the calls. */
void stack_frames_tree(struct result_table *table, const struct table_names *names, uint32_t scope);

#endif

/* The functions at a code address, including inlined ones, as stack frames; and trees of places
 * with a row for each frame. */
#ifndef CLIENTS_CONNECTION_STACK_FRAMES_H
#define CLIENTS_CONNECTION_STACK_FRAMES_H

#include "clients/connection/result_table.h"

/* Return the number of frames, at least 1; and one of them as text, 0 the innermost: "f (a.c:3)",
 * in new memory. */
uint32_t stack_frames_count(const struct table_names *names, struct table_place place);
char *stack_frames_text(const struct table_names *names, struct table_place place, uint32_t frame);

/* Calls `take` for each function on the recorded call stack of an event, including inlined ones:
 * the innermost, which contains its call site, first. */
void stack_frames_of_event(struct symbolizer *sites, const struct event_info *event,
                           void (*take)(void *user, uint64_t address,
                                        const struct symbol_location *function),
                           void *user);
/* Returns why the recorded stack of an event is incomplete; NULL: it is complete. */
const char *stack_frames_incomplete(const struct event_info *event);

/* For a table of calls, with their callees below them (depth) and their sums: inserts a
 * row for the functions into which a call was inlined above it. `scope`: the column of the
 * calls. */
void stack_frames_tree(struct result_table *table, const struct table_names *names, uint32_t scope);

#endif

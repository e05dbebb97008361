/* Numbers of the functions of a run: one number for one function, in all processes and threads. */
#ifndef SERVER_QUERIES_TABLES_SCOPE_NUMBERS_H
#define SERVER_QUERIES_TABLES_SCOPE_NUMBERS_H

#include "server/run/run.h"
#include "wire/table_rows.h"

struct scope {
    uint8_t is; /* an enum profile_scope */
    uint32_t type; /* event type of a recorded call; 0: unknown */
    struct table_place
        place; /* of a function: its address in the process in which it was found first */
};

/* A zero-initialized struct is empty. */
struct scope_numbers {
    struct scope *items; /* by number - 1 */
    size_t count, room;
    struct map numbers;
};

/* Returns the scope number of each context of a thread; 0 for context 0, the thread itself. The
 * caller frees the result. */
uint32_t *scope_numbers_of(struct scope_numbers *scopes, const struct run *run,
                           const struct call_context_thread *thread);
/* Returns the number of the function that contains a place; 0 if there is none. */
uint32_t scope_numbers_find(const struct scope_numbers *scopes, const struct run *run,
                            struct table_place place);
/* Returns a cell with the function's name. */
struct table_cell scope_numbers_cell(const struct scope_numbers *scopes, const struct run *run,
                                     uint32_t number);
void scope_numbers_free(struct scope_numbers *scopes); /* frees the memory; it is empty then */

#endif

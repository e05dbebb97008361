/* What is called in a run, numbered: one number for one function, in whatever process or thread. */
#ifndef SERVER_QUERIES_TABLES_SCOPE_NUMBERS_H
#define SERVER_QUERIES_TABLES_SCOPE_NUMBERS_H

#include "server/run/run.h"
#include "wire/table_rows.h"

struct scope {
    uint8_t is; /* an enum profile_scope */
    uint32_t type; /* of a call that is recorded; 0 not known */
    struct table_place place; /* else: where it was met first */
};

/* Zero-initialised: none. */
struct scope_numbers {
    struct scope *items; /* by number - 1 */
    size_t count, room;
    struct map numbers;
};

/* Of each context of a thread, from 1; of the thread itself 0.  New memory. */
uint32_t *scope_numbers_of(struct scope_numbers *scopes, const struct run *run,
                           const struct call_context_thread *thread);
/* The number of the function in which a place is; 0: none of them. */
uint32_t scope_numbers_find(const struct scope_numbers *scopes, const struct run *run,
                            struct table_place place);
/* What it is called. */
struct table_cell scope_numbers_cell(const struct scope_numbers *scopes, const struct run *run,
                                     uint32_t number);
void scope_numbers_free(struct scope_numbers *scopes); /* empties it */

#endif

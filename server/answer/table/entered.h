/* When the calls of a run began and ended: what the tables of that share. */
#ifndef SERVER_ANSWER_TABLE_ENTERED_H
#define SERVER_ANSWER_TABLE_ENTERED_H

#include "server/answer/table/scopes.h"
#include "server/answer/table/table.h"
#include "server/measure/entries.h"

/* A thread that is asked for, with the scopes of its contexts. */
struct entered_thread {
    const struct entries_thread *entries;
    uint32_t line;
    uint32_t *scope_of;
    size_t context_count;
};

struct entered {
    const struct run *run;
    uint64_t taken; /* how often regions had been read when this was asked */
    struct scopes scopes;
    struct entered_thread *threads;
    uint32_t count;
    int64_t from_ns, to_ns; /* the range, by the program's clock */
    uint64_t lost; /* calls that found no room in a ring */
    uint64_t counted; /* calls that were counted only: nobody wrote down when */
};

/* What they are called is asked for; false: there is no such table, *problem says why. */
bool entered_begin(struct entered *entered, const struct table_view *view, char **problem);
/* Is it there? */
bool entered_is_there(const struct entered *entered);
/* Then: the threads, as they are now. */
void entered_look(struct entered *entered, const struct table_view *view);
struct table_cell entered_cell(const struct entered *entered, const struct entered_thread *thread,
                               uint32_t context);
void entered_notes(const struct entered *entered, struct shown_table *table);
void entered_free(struct entered *entered);

#endif

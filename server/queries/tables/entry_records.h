/* When the calls of a run began and ended: what the tables of that share. */
#ifndef SERVER_QUERIES_TABLES_ENTRY_RECORDS_H
#define SERVER_QUERIES_TABLES_ENTRY_RECORDS_H

#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/call_entries.h"

/* A thread that is asked for, with the scopes of its contexts. */
struct entry_records_thread {
    const struct call_entries_thread *entries;
    uint32_t line;
    uint32_t *scope_of;
    size_t context_count;
};

struct entry_records {
    const struct run *run;
    uint64_t taken; /* how often regions had been read when this was asked */
    struct scope_numbers scopes;
    struct entry_records_thread *threads;
    uint32_t count;
    int64_t from_ns, to_ns; /* the range, by the program's clock */
    uint64_t lost; /* calls that found no room in a ring */
    uint64_t counted; /* calls that were counted only: nobody wrote down when */
};

/* What they are called is asked for; false: there is no such table, *problem says why. */
bool entry_records_begin(struct entry_records *entered, const struct table_view *view,
                         char **problem);
/* Is it there? */
bool entry_records_are_ready(const struct entry_records *entered);
/* Then: the threads, as they are now. */
void entry_records_read(struct entry_records *entered, const struct table_view *view);
struct table_cell entry_records_cell(const struct entry_records *entered,
                                     const struct entry_records_thread *thread, uint32_t context);
void entry_records_notes(const struct entry_records *entered, struct result_table *table);
void entry_records_free(struct entry_records *entered);

#endif

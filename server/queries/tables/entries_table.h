/* Table of call records; and the call records of a run, as used by all tables about single
 * calls. */
#ifndef SERVER_QUERIES_TABLES_ENTRIES_TABLE_H
#define SERVER_QUERIES_TABLES_ENTRIES_TABLE_H

#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/call_entries.h"

/* A requested thread, with the scopes of its contexts. */
struct entry_records_thread {
    const struct call_entries_thread *entries;
    uint32_t line;
    uint32_t *scope_of;
    size_t context_count;
};

struct entry_records {
    const struct run *run;
    uint64_t taken; /* number of region readings when the request came */
    struct scope_numbers scopes;
    struct entry_records_thread *threads;
    uint32_t count;
    int64_t from_ns, to_ns; /* the range, by the program's clock */
    uint64_t lost; /* calls that were dropped because a ring was full */
    uint64_t counted; /* calls that were only counted, without times */
};

/* Begins, and requests a reading of the profile regions, which describe the functions. Returns
 * false with the reason in *error if the table is restricted to a causal past. */
bool entry_records_begin(struct entry_records *entered, const struct table_view *view,
                         struct error *error);
/* Returns whether that reading was done, or no program is connected that could be
 * read. */
bool entry_records_are_ready(const struct entry_records *entered);
/* Reads the threads as they are now; call after entry_records_are_ready() returned true. */
void entry_records_read(struct entry_records *entered, const struct table_view *view);
void entry_records_notes(const struct entry_records *entered, struct result_table *table);
void entry_records_free(struct entry_records *entered);

#endif

/* Tables about a run: a preset is a file with a `const struct table_preset preset_NAME` and a row
 * of PRESETS.
 *
 * table_query.c does what all of them need, in steps: it computes the intervals
 * (server/timing/intervals.h), finds the range and the past that a table is about, and sorts,
 * limits and sends rows.  A preset reads the computed data and fills the table. */
#ifndef SERVER_QUERIES_TABLES_TABLE_QUERY_H
#define SERVER_QUERIES_TABLES_TABLE_QUERY_H

#include "server/timing/thread_states.h"
#include "server/run/run.h"
#include "wire/endpoint.h"
#include "wire/table_rows.h"

/* The data that a preset reads; it is constant until the table is filled. */
struct table_view {
    const struct run *run;
    const struct table_request *request;
    const struct intervals *measured;
    struct lifetimes lives; /* the same, with waits that have not ended */
    int64_t from_ns, to_ns; /* the range; INT64_MIN and INT64_MAX: open */
    bool apart; /* `measured` is a part of the run, with nothing before and after it */
    struct cone *past; /* the past that the table is restricted to; NULL: no restriction */
};

struct table_preset {
    const char *what;
    const char *const *by; /* what a row can represent, the first by default; ends with NULL */
    /* Returns the preset's work; NULL with the reason in *error, which is empty before, if the
     * request cannot be answered. */
    void *(*begin)(const struct table_view *view, struct error *error);
    /* Processes about `budget` items; returns true when the table can be filled.  NULL: it can be
     * filled at once.  The view of `begin` remains valid until the end, but `measured` may have
     * grown meanwhile. */
    bool (*step)(void *work, uint64_t *budget);
    /* Returns how many events it has read, for the progress; or NULL. */
    uint64_t (*progress)(const void *work);
    void (*fill)(void *work, const struct table_view *view, struct result_table *table);
    void (*free)(void *work);
    bool tells_all; /* no notes about missing data are added */
    bool no_intervals; /* it needs none of `measured` and `lives`, which may be empty */
};

/* clang-format off */
#define PRESETS(P) P(states) P(intervals) P(tasks) P(created)                                      \
    P(waits) P(knots) P(explanation) P(path) P(path_intervals) P(findings) P(run) P(consistency)   \
    P(usage) P(metrics) P(calls) P(memory) P(source) P(entries) P(overlap) P(seq_conc)             \
    P(function_time) P(blocks) P(processors) P(calls_by_cpu) P(predict) P(placement) P(stacks)     \
    P(locks) P(concurrency) P(violations) P(edges) P(matches) P(state) P(races)
/* clang-format on */

#define P(name) extern const struct table_preset preset_##name;
PRESETS(P)
#undef P

/* ---- for presets ---- */

/* Returns whether the thread is requested. */
bool table_wants(const struct table_view *view, uint32_t line);
/* Returns whether the line has the lifetime of a thread.  A target description can exclude a kind
 * (a scheduler). */
bool table_lives(const struct table_view *view, uint32_t line);
/* Returns the end of what counts of a thread: its last event in the requested past, or the end of
 * the range; a time before from_ns if nothing counts. */
int64_t table_until(const struct table_view *view, const struct thread_timeline *course);
/* Returns whether what the thread did before its first known event was discarded. */
bool table_note_unknown_before(const struct table_view *view, const struct thread_timeline *course);
/* Returns the time from the start of the first thread to the end of the last. */
int64_t table_length(const struct table_view *view);
/* Convert places and code segments as numbered in the intervals. */
struct table_place table_place(const struct table_view *view, uint32_t place);
struct table_cell table_step(const struct table_view *view, uint32_t step);
/* Returns the call site of an event that the thread made, or that created it; null if it is
 * another's, or has none. */
struct table_cell table_site_cell(const struct table_view *view, uint32_t thread,
                                  uint64_t position);
/* Line 0 if there is none. */
struct event_id table_event(const struct table_view *view, uint64_t position);

/* ---- making a table ---- */

/* A column of a table. Tables have an array of these, indexed by the enum of their columns; a table
 * with columns that depend on the request changes a copy. */
struct column_definition {
    const char *name;
    const char *title; /* NULL: the name in words, "created at" for created_at_ns */
    enum table_kind kind;
    const char *source; /* NULL: "order", and exact */
    const char *under; /* in text output, placed below the column of this name; NULL: not */
    bool detail; /* shown on request only */
};

/* Adds columns; must be called before rows are added. */
void table_add_columns(struct result_table *table, const struct column_definition *columns,
                       size_t count);
/* Adds a column; must be called before rows are added. title NULL: the name in words; source NULL:
 * "order", and exact. */
void table_add_column(struct result_table *table, const char *name, const char *title,
                      enum table_kind kind, const char *source);
void table_detail(struct result_table *table); /* the last column is shown on request only */
/* Adds a row and returns its cells, all null, which may be set until the next row is added; NULL if
 * there are too many. */
/* Returns the cell of a program, "sort[123]": its file name and process id; empty if unknown. */
struct table_cell table_cell_program(const struct table_view *view, uint32_t process);
struct table_cell *table_add_row(struct result_table *table, uint8_t depth, struct event_id event);
/* Adds a line that the last row is about. */
void table_row_line(struct result_table *table, uint32_t line);
/* Returns the total's cells, all null. */
struct table_cell *table_make_total(struct result_table *table);
/* Adds notes about discarded, lost, or pending events; none if the request has the option
 * missing=0. */
void table_note_missing(const struct table_view *view, struct result_table *table);
void table_add_note(struct result_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct table_cell table_cell_text(const char *text); /* copies the text */
/* Moves the contents of `made` into the table; `made` is empty then. */
void table_move(struct result_table *table, struct result_table *made);
/* Removes the caller from each code segment, unless a segment of another row has the same name and
 * a different caller. */
void disambiguate_names(struct result_table *table);
/* Sorts by the requested column, else by `otherwise` (NULL: unsorted), and keeps the first `top`
 * rows. */
void table_arrange(struct result_table *table, const struct table_request *request,
                   const char *otherwise);

#endif

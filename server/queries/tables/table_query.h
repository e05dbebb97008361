/* Tables about a run: a preset is a file with a `const struct table_preset preset_NAME` and a row
 * of PRESETS.
 *
 * What all of them need is done by table_query.c, in steps: what each thread did is learnt
 * (server/timing/intervals.h), the range and the past that a table is about are found, rows are
 * sorted, cut and told.  A preset then looks at what is known and fills the table. */
#ifndef SERVER_QUERIES_TABLES_TABLE_QUERY_H
#define SERVER_QUERIES_TABLES_TABLE_QUERY_H

#include "server/timing/thread_states.h"
#include "server/run/run.h"
#include "wire/table_rows.h"

/* What a preset looks at; it stays as it is until the table is filled. */
struct table_view {
    const struct run *run;
    const struct table_request *request;
    const struct intervals *measured;
    struct lifetimes lives; /* the same, with what has not ended yet */
    int64_t from_ns, to_ns; /* the range; INT64_MIN and INT64_MAX: open */
    bool apart; /* what is measured is a part of the run, with nothing before and after it */
    struct cone *past; /* of the event that it is the past of; NULL: all counts */
};

struct table_preset {
    const char *what;
    const char *const *by; /* what a row may stand for, the first if it is not said; NULL ends it */
    /* Its work; NULL with *problem set (the caller's to free): the question cannot be answered. */
    void *(*begin)(const struct table_view *view, char **problem);
    /* Looks at about `budget` things more; true: it may be filled.  NULL: it may be at once.  The
     * view of its begin is there until the end, but what is measured may have grown meanwhile. */
    bool (*step)(void *work, uint64_t *budget);
    void (*fill)(void *work, const struct table_view *view, struct result_table *table);
    void (*free)(void *work);
    bool tells_all; /* nothing is to be said below it of what is missing */
};

/* clang-format off */
#define PRESETS(P) P(states) P(spells) P(tasks) P(created)                                          \
    P(waits) P(knots) P(why) P(path) P(trail) P(hints) P(run) P(sound) P(usage) P(meters)           \
    P(calls) P(memory) P(source) P(entries) P(with) P(cases) P(inside) P(blocks) P(processors)      \
    P(callson) P(maybe) P(stays)
/* clang-format on */

#define P(name) extern const struct table_preset preset_##name;
PRESETS(P)
#undef P

/* ---- for presets ---- */

bool table_wants(const struct table_view *view, uint32_t line); /* is the thread among the asked? */
/* Has what acts there the life of a thread?  A description may say of a kind that it has not (a
 * scheduler). */
bool table_lives(const struct table_view *view, uint32_t line);
/* When what counts of a thread ends: its last event in the past that is asked for, or the range;
 * before from_ns: nothing of it counts. */
int64_t table_until(const struct table_view *view, const struct thread_timeline *course);
/* Is what the thread did before its first known event forgotten? */
bool table_note_unknown_before(const struct table_view *view, const struct thread_timeline *course);
int64_t
table_length(const struct table_view *view); /* from the first life's begin to the last's end */
/* Of places and steps as intervals have them. */
struct table_place table_place(const struct table_view *view, uint32_t place);
struct table_cell table_step(const struct table_view *view, uint32_t step);
struct event_id table_event(const struct table_view *view,
                            uint64_t position); /* line 0: there is none */

/* ---- making a table ---- */

/* Before there are rows.  source NULL: "order", and exact. */
void table_add_column(struct result_table *table, const char *name, const char *title,
                      enum table_kind kind, const char *source);
/* In words, the last column stands under another. */
void table_under(struct result_table *table, const char *name);
void table_detail(struct result_table *table); /* the last column is not shown unless asked for */
/* Adds a row.  Its cells, all null, may be set until the next is added; NULL: there are too
 * many. */
struct table_cell *table_add_row(struct result_table *table, uint8_t depth, struct event_id event);
void table_row_line(struct result_table *table, uint32_t line); /* the last row is about it, too */
struct table_cell *table_make_total(struct result_table *table); /* all null */
/* Notes of what was forgotten, lost, or never came; none where the request has the option
 * missing=0. */
void table_note_missing(const struct table_view *view, struct result_table *table);
void table_add_note(struct result_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct table_cell table_cell_text(const char *text); /* a copy */
/* What was made apart becomes the table; it is empty then. */
void table_move(struct result_table *table, struct result_table *made);
/* By the column that the request names, else by `otherwise` (NULL: as they are); then the first
 * `top`. */
void table_arrange(struct result_table *table, const struct table_request *request,
                   const char *otherwise);

#endif

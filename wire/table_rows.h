/* Tables about a run: how much, how long, why so late; as structs and as bytes.
 *
 * One question for all of them: a preset ("states", "waits", ...) says which rows and columns there
 * are.  An answer is a head (columns), batches of rows, and an end (totals, notes, how much of the
 * run is known by now); while the run is looked at for the first time, ends without rows come
 * before.  Names of lines and places are made by who asks, from his book and sites: cells name them
 * by number and by address.  What is read into these structs is owned by them and freed by their
 * _free.  Times are ns. */
#ifndef WIRE_TABLE_ROWS_H
#define WIRE_TABLE_ROWS_H

#include "wire/table_cell.h"

/* What the cells of a column are, as scripts read it. */
/* clang-format off */
#define TABLE_KINDS(K)                                                          \
    K(NS, "ns")       /* a duration, or a time of the run */                    \
    K(COUNT, "count")                                                           \
    K(SHARE, "share") /* of 1 */                                                \
    K(TEXT, "text")                                                             \
    K(LINE, "line")                                                             \
    K(PLACE, "place") /* of the code */                                         \
    K(STEP, "step")   /* what a thread did from one place to another */         \
    K(EVENT, "event")                                                         \
    K(FINE, "ns")     /* the same as NS; people see microseconds */
/* clang-format on */

enum table_kind {
#define K(NAME, word) TABLE_##NAME,
    TABLE_KINDS(K)
#undef K
        TABLE_KIND_COUNT
};

const char *table_column_kind_name(unsigned kind); /* "ns"; "" of none */

/* ---- the question ---- */

/* One end of the range that a table is about. */
enum table_end_type { TABLE_OPEN, TABLE_AT_NS, TABLE_AT_POSITION, TABLE_AT_EVENT, TABLE_END_KINDS };
struct table_end {
    uint8_t is; /* an enum table_end_type */
    int64_t at; /* ns or position */
    struct event_id event;
};

enum table_flag { TABLE_TREE = 1, TABLE_RAW = 2, TABLE_BACKWARDS = 4 /* the least first */ };

struct table_request {
    char *what; /* the preset */
    char *by; /* what a row stands for, "": as the preset has it */
    struct table_end from, to;
    struct event_id past_of; /* only what happened before this event; line 0: all */
    uint32_t *lines; /* only of these threads; none: all */
    uint32_t line_count;
    char *sort; /* a column's name, "": as the preset has it */
    uint32_t top; /* so many rows of depth 0; 0: all */
    uint32_t flags; /* enum table_flag */
    struct table_option { /* what presets have of their own, as "factor" = "parse=0.5" */
        char *key, *value;
    } *options;
    uint32_t option_count;
};

/* The value of the first option of a key, or NULL. */
const char *table_option(const struct table_request *request, const char *key);

/* ---- the answer ---- */

struct table_column {
    char *name; /* as in JSON: "blocked_ns" */
    char *title; /* for people */
    char *unit; /* "ns", "threads", ""; */
    uint8_t kind; /* an enum table_kind */
    bool exact; /* else it is sampled, or a bound: the source says so */
    bool detail; /* not shown to people unless they ask for it */
    /* 0, or 1 + index of a column before it: in words its cells stand there, where that one is
     * null */
    uint32_t under;
    char *source; /* where it comes from: "order" */
};

struct table_row {
    uint8_t depth; /* rows of greater depth come after the one that they belong to */
    uint32_t *lines; /* that it is about, to be marked where it is selected */
    uint32_t line_count;
    struct event_id event; /* that it is about, or begins with; line 0: none */
    struct table_place *context; /* the calls that it lies in, the innermost first */
    uint32_t context_count;
};

struct result_table {
    char *title; /* for people */
    struct table_column *columns;
    uint32_t column_count;
    struct table_row *rows;
    uint32_t row_count;
    struct table_cell *cells; /* by row, then column */
    struct table_cell *total; /* by column; NULL: there is none */
    char **notes;
    uint32_t note_count;
    char *problem; /* NULL none: what is wrong with the question */
    uint64_t known, count; /* so many of so many events were looked at; as many: it is whole */
};

/* The column of a name, which may leave `_ns` out; column_count: there is none. */
uint32_t result_table_find_column(const struct result_table *table, const char *name);

static inline struct table_cell *result_table_cells(const struct result_table *table, uint32_t row)
{
    return table->cells + (size_t)row * table->column_count;
}

/* ---- bytes ---- */

void encode_table_request(struct encoder *out, const struct table_request *request);
void decode_table_request(struct decoder *in, struct table_request *request);
void table_request_free(struct table_request *request);

/* The body of RESPONSE_TABLE. */
void encode_table_head(struct encoder *out, const struct result_table *table);
/* Of RESPONSE_ROWS: rows first .. end - 1. */
void encode_table_rows(struct encoder *out, const struct result_table *table, uint32_t first,
                       uint32_t end);
/* Of RESPONSE_TABLE_END. */
void encode_table_end(struct encoder *out, const struct result_table *table);

/* Each takes its part into a table: a head empties it first, rows come behind those that are
 * there. */
void decode_table_head(struct decoder *in, struct result_table *table);
void decode_table_rows(struct decoder *in, struct result_table *table);
void decode_table_end(struct decoder *in, struct result_table *table);
void result_table_free(struct result_table *table); /* empties it */

#endif

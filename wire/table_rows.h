/* Tables about a run, their cells and their requests, as structs and as bytes.
 *
 * One request serves all of them: a preset ("states", "waits", ...) defines the rows and columns. A
 * response is a head (columns), batches of rows, and an end (totals, notes, how much of the run was
 * examined so far); while a run is examined for the first time, ends without rows come before. The
 * client makes the names of lines and places from its metadata and sites: cells contain line
 * numbers and addresses. The structs own what is decoded into them; their _free frees it. Times are
 * ns. */
#ifndef WIRE_TABLE_ROWS_H
#define WIRE_TABLE_ROWS_H

#include "wire/event_types.h"
#include "wire/message.h"

/* ---- cells ---- */

enum cell_type {
    CELL_NULL, /* no source provides it */
    CELL_NUMBER,
    CELL_REAL,
    CELL_TEXT,
    CELL_LINE,
    CELL_PLACE,
    CELL_STEP,
    CELL_EVENT,
    CELL_NAME, /* a text of the program's own, by its address */
    CELL_DATA, /* data of the program, by its address */
    CELL_KINDS
};

/* The kind of a step. */
enum cell_step_kind {
    CELL_STEP_CODE,
    CELL_STEP_LATENCY,
    CELL_STEP_TIMER,
    CELL_STEP_UNKNOWN,
    /* in a function, at from; after a call that it made, at to: 0: before the first one */
    CELL_STEP_CALLS,
    CELL_STEPS
};

struct table_place {
    uint32_t process;
    uint64_t address; /* 0: unknown, or a thread's begin or end */
};

struct table_cell {
    uint8_t is; /* an enum cell_type */
    uint8_t step; /* an enum cell_step_kind */
    union {
        int64_t number;
        double real;
        char *text;
        uint32_t line;
        struct table_place place;
        struct event_id event;
        struct {
            /* caller: of CALLS, the call site of the function */
            struct table_place from, to, caller;
        } between; /* of a step */
    };
};

static inline struct table_cell table_cell_number(int64_t number)
{
    return (struct table_cell){.is = CELL_NUMBER, .number = number};
}

static inline struct table_cell table_cell_real(double real)
{
    return (struct table_cell){.is = CELL_REAL, .real = real};
}

static inline struct table_cell table_cell_line(uint32_t line)
{
    return line ? (struct table_cell){.is = CELL_LINE, .line = line} : (struct table_cell){0};
}

static inline struct table_cell table_cell_event(struct event_id at)
{
    return at.line ? (struct table_cell){.is = CELL_EVENT, .event = at} : (struct table_cell){0};
}

static inline struct table_cell table_cell_place(struct table_place place)
{
    return (struct table_cell){.is = CELL_PLACE, .place = place};
}

static inline struct table_cell table_cell_data(struct table_place address)
{
    return (struct table_cell){.is = CELL_DATA, .place = address};
}

struct table_cell table_cell_step_name(enum cell_step_kind is, struct table_place from,
                                       struct table_place to);

/* The type of the cells of a column, as scripts read it. */
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
    K(FINE, "ns")     /* as NS, but displayed in microseconds */                \
    K(DATA, "data")   /* a variable, or an address of memory */
/* clang-format on */

enum table_kind {
#define K(NAME, word) TABLE_##NAME,
    TABLE_KINDS(K)
#undef K
        TABLE_KIND_COUNT
};

const char *table_column_kind_name(unsigned kind); /* "ns"; "" if invalid */

/* ---- the request ---- */

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
    char *by; /* what a row represents; "": the preset's default */
    struct table_end from, to;
    struct event_id past_of; /* only what happened before this event; line 0: everything */
    uint32_t *lines; /* only these threads; none: all */
    uint32_t line_count;
    char *sort; /* a column's name; "": the preset's default */
    uint32_t top; /* maximum rows of depth 0; 0: all */
    uint32_t flags; /* enum table_flag */
    struct table_option { /* options of the preset, such as "factor" = "parse=0.5" */
        char *key, *value;
    } *options;
    uint32_t option_count;
};

/* Returns the value of the first option with a key, or NULL. */
const char *table_option(const struct table_request *request, const char *key);

/* ---- the response ---- */

struct table_column {
    char *name; /* as in JSON: "blocked_ns" */
    char *title; /* for display */
    char *unit; /* "ns", "threads", "" */
    uint8_t kind; /* an enum table_kind */
    bool exact; /* else it is sampled or a bound, as the source says */
    bool detail; /* displayed only on request */
    /* 0, or 1 + index of an earlier column: text output shows its cells there, where that one is
     * null */
    uint32_t under;
    char *source; /* its origin: "order" */
};

struct table_row {
    uint8_t depth; /* rows of greater depth follow the row that they belong to */
    uint32_t *lines; /* lines that it is about, marked when it is selected */
    uint32_t line_count;
    struct event_id event; /* that it is about, or begins with; line 0: none */
    struct table_place *context; /* its call context, the innermost call first */
    uint32_t context_count;
};

struct result_table {
    char *title; /* for display */
    struct table_column *columns;
    uint32_t column_count;
    struct table_row *rows;
    uint32_t row_count;
    struct table_cell *cells; /* by row, then column */
    struct table_cell *total; /* by column; NULL: none */
    char **notes;
    uint32_t note_count;
    char *problem; /* what is wrong with the request, or NULL */
    uint64_t known, count; /* events examined, and their total; equal: the table is complete */
};

/* Removes all rows from this one on. */
void result_table_truncate(struct result_table *table, uint32_t rows);
/* Returns the index of a column by name, which may omit `_ns`; column_count if there is none. */
uint32_t result_table_find_column(const struct result_table *table, const char *name);

static inline struct table_cell *result_table_cells(const struct result_table *table, uint32_t row)
{
    return table->cells + (size_t)row * table->column_count;
}

/* ---- encoding ---- */

void encode_table_request(struct encoder *out, const struct table_request *request);
void decode_table_request(struct decoder *in, struct table_request *request);
void table_request_free(struct table_request *request);

/* The body of RESPONSE_TABLE. */
void encode_table_head(struct encoder *out, const struct result_table *table);
/* The body of RESPONSE_ROWS: rows first .. end - 1. */
void encode_table_rows(struct encoder *out, const struct result_table *table, uint32_t first,
                       uint32_t end);
/* The body of RESPONSE_TABLE_END. */
void encode_table_end(struct encoder *out, const struct result_table *table);

/* Each decodes its part into a table: a head empties it first, rows are appended. */
void decode_table_head(struct decoder *in, struct result_table *table);
void decode_table_rows(struct decoder *in, struct result_table *table);
void decode_table_end(struct decoder *in, struct result_table *table);
void result_table_free(struct result_table *table); /* leaves it empty */

#endif

/* Cells of tables (wire/table_rows.h), as structs and as bytes. */
#ifndef WIRE_TABLE_CELL_H
#define WIRE_TABLE_CELL_H

#include "wire/event_id.h"

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

struct table_cell table_cell_step_name(enum cell_step_kind is, struct table_place from,
                                       struct table_place to);

void encode_place(struct encoder *out, struct table_place place);
struct table_place decode_place(struct decoder *in);
#define PLACE_BYTES 12u
void encode_cell(struct encoder *out, const struct table_cell *cell);
/* Always sets the cell; the caller frees its text. */
void decode_cell(struct decoder *in, struct table_cell *cell);
/* Frees an array of cells and their texts. */
void table_cells_free(struct table_cell *cells, size_t count);

#endif

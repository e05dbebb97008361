/* Cells of tables (wire/table.h): what stands in one, as a struct and as bytes. */
#ifndef WIRE_CELL_H
#define WIRE_CELL_H

#include "wire/ref.h"

enum cell_is {
    CELL_NULL, /* no source gives it */
    CELL_NUMBER,
    CELL_REAL,
    CELL_TEXT,
    CELL_LINE,
    CELL_PLACE,
    CELL_STEP,
    CELL_EVENT,
    CELL_NAME, /* a text of the program's own, by the place where it lies */
    CELL_KINDS
};

/* What a step is. */
enum cell_step {
    CELL_STEP_CODE,
    CELL_STEP_LATENCY,
    CELL_STEP_TIMER,
    CELL_STEP_UNKNOWN,
    CELL_STEP_CALLS, /* in a function, at from; after a call that it made, at to: 0 before the first */
    CELL_STEPS
};

struct table_place {
    uint32_t process;
    uint64_t address; /* 0: none is known, or a thread's begin or end */
};

struct table_cell {
    uint8_t is; /* an enum cell_is */
    uint8_t step; /* an enum cell_step */
    union {
        int64_t number;
        double real;
        char *text;
        uint32_t line;
        struct table_place place;
        struct ref event;
        struct {
            struct table_place from, to,
                caller; /* caller: of calls, where the function was called */
        } between; /* of a step */
    };
};

static inline struct table_cell cell_number(int64_t number)
{
    return (struct table_cell){.is = CELL_NUMBER, .number = number};
}

static inline struct table_cell cell_real(double real)
{
    return (struct table_cell){.is = CELL_REAL, .real = real};
}

static inline struct table_cell cell_line(uint32_t line)
{
    return line ? (struct table_cell){.is = CELL_LINE, .line = line} : (struct table_cell){0};
}

static inline struct table_cell cell_event(struct ref at)
{
    return at.line ? (struct table_cell){.is = CELL_EVENT, .event = at} : (struct table_cell){0};
}

static inline struct table_cell cell_place(struct table_place place)
{
    return (struct table_cell){.is = CELL_PLACE, .place = place};
}

struct table_cell cell_step(enum cell_step is, struct table_place from, struct table_place to);

void put_place(struct out *out, struct table_place place);
struct table_place get_place(struct in *in);
#define PLACE_BYTES 12u
void put_cell(struct out *out, const struct table_cell *cell);
/* Sets the cell in any case; its text is the caller's to free. */
void get_cell(struct in *in, struct table_cell *cell);
/* So many, and their texts. */
void cells_free(struct table_cell *cells, size_t count);

#endif

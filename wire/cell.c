#include "wire/cell.h"

#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

struct table_cell cell_step(enum cell_step is, struct table_place from, struct table_place to)
{
    return (struct table_cell){.is = CELL_STEP, .step = (uint8_t)is, .between = {from, to, {0}}};
}

void put_place(struct out *out, struct table_place place)
{
    put_u32(out, place.process);
    put_u64(out, place.address);
}

struct table_place get_place(struct in *in)
{
    struct table_place place = {.process = get_u32(in)};
    place.address = get_u64(in);
    return place;
}

void put_cell(struct out *out, const struct table_cell *cell)
{
    uint64_t bits;
    put_u8(out, cell->is);
    switch (cell->is) {
    case CELL_NUMBER:
        put_u64(out, (uint64_t)cell->number);
        break;
    case CELL_REAL:
        memcpy(&bits, &cell->real, sizeof bits);
        put_u64(out, bits);
        break;
    case CELL_TEXT:
        put_string(out, cell->text);
        break;
    case CELL_LINE:
        put_u32(out, cell->line);
        break;
    case CELL_PLACE:
    case CELL_NAME:
        put_place(out, cell->place);
        break;
    case CELL_STEP:
        put_u8(out, cell->step);
        put_place(out, cell->between.from);
        put_place(out, cell->between.to);
        if (cell->step == CELL_STEP_CALLS)
            put_place(out, cell->between.caller);
        break;
    case CELL_EVENT:
        put_ref(out, cell->event);
        break;
    default:
        break;
    }
}

static double get_real(struct in *in)
{
    uint64_t bits = get_u64(in);
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static void get_step(struct in *in, struct table_cell *cell)
{
    cell->step = get_u8(in);
    cell->between.from = get_place(in);
    cell->between.to = get_place(in);
    if (cell->step == CELL_STEP_CALLS)
        cell->between.caller = get_place(in);
    if (cell->step >= CELL_STEPS)
        in_fail(in, "a step of an unknown kind");
}

void get_cell(struct in *in, struct table_cell *cell)
{
    *cell = (struct table_cell){.is = get_u8(in)};
    switch (cell->is) {
    case CELL_NULL:
        break;
    case CELL_NUMBER:
        cell->number = (int64_t)get_u64(in);
        break;
    case CELL_REAL:
        cell->real = get_real(in);
        break;
    case CELL_TEXT:
        cell->text = get_string(in, LIMIT_TEXT_BYTES);
        break;
    case CELL_LINE:
        cell->line = get_u32(in);
        break;
    case CELL_PLACE:
    case CELL_NAME:
        cell->place = get_place(in);
        break;
    case CELL_STEP:
        get_step(in, cell);
        break;
    case CELL_EVENT:
        cell->event = get_ref(in);
        break;
    default:
        cell->is = CELL_NULL;
        in_fail(in, "a cell of an unknown kind");
    }
}

void cells_free(struct table_cell *cells, size_t count)
{
    for (size_t i = 0; cells && i < count; i++)
        if (cells[i].is == CELL_TEXT)
            free(cells[i].text);
    free(cells);
}

#include "wire/table_cell.h"

#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

struct table_cell table_cell_step_name(enum cell_step_kind is, struct table_place from,
                                       struct table_place to)
{
    return (struct table_cell){.is = CELL_STEP, .step = (uint8_t)is, .between = {from, to, {0}}};
}

void encode_place(struct encoder *out, struct table_place place)
{
    encode_u32(out, place.process);
    encode_u64(out, place.address);
}

struct table_place decode_place(struct decoder *in)
{
    struct table_place place = {.process = decode_u32(in)};
    place.address = decode_u64(in);
    return place;
}

void encode_cell(struct encoder *out, const struct table_cell *cell)
{
    uint64_t bits;
    encode_u8(out, cell->is);
    switch (cell->is) {
    case CELL_NUMBER:
        encode_u64(out, (uint64_t)cell->number);
        break;
    case CELL_REAL:
        memcpy(&bits, &cell->real, sizeof bits);
        encode_u64(out, bits);
        break;
    case CELL_TEXT:
        encode_string(out, cell->text);
        break;
    case CELL_LINE:
        encode_u32(out, cell->line);
        break;
    case CELL_PLACE:
    case CELL_NAME:
        encode_place(out, cell->place);
        break;
    case CELL_STEP:
        encode_u8(out, cell->step);
        encode_place(out, cell->between.from);
        encode_place(out, cell->between.to);
        if (cell->step == CELL_STEP_CALLS)
            encode_place(out, cell->between.caller);
        break;
    case CELL_EVENT:
        encode_event_id(out, cell->event);
        break;
    default:
        break;
    }
}

static double decode_real(struct decoder *in)
{
    uint64_t bits = decode_u64(in);
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static void decode_step(struct decoder *in, struct table_cell *cell)
{
    cell->step = decode_u8(in);
    cell->between.from = decode_place(in);
    cell->between.to = decode_place(in);
    if (cell->step == CELL_STEP_CALLS)
        cell->between.caller = decode_place(in);
    if (cell->step >= CELL_STEPS)
        decoder_fail(in, "unknown kind of segment");
}

void decode_cell(struct decoder *in, struct table_cell *cell)
{
    *cell = (struct table_cell){.is = decode_u8(in)};
    switch (cell->is) {
    case CELL_NULL:
        break;
    case CELL_NUMBER:
        cell->number = (int64_t)decode_u64(in);
        break;
    case CELL_REAL:
        cell->real = decode_real(in);
        break;
    case CELL_TEXT:
        cell->text = decode_string(in, LIMIT_TEXT_BYTES);
        break;
    case CELL_LINE:
        cell->line = decode_u32(in);
        break;
    case CELL_PLACE:
    case CELL_NAME:
        cell->place = decode_place(in);
        break;
    case CELL_STEP:
        decode_step(in, cell);
        break;
    case CELL_EVENT:
        cell->event = decode_event_id(in);
        break;
    default:
        cell->is = CELL_NULL;
        decoder_fail(in, "unknown kind of cell");
    }
}

void table_cells_free(struct table_cell *cells, size_t count)
{
    for (size_t i = 0; cells && i < count; i++)
        if (cells[i].is == CELL_TEXT)
            free(cells[i].text);
    free(cells);
}

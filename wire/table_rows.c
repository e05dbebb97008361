#include "wire/table_rows.h"

#include "wire/fields.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

#define PLACE_BYTES 12u

struct table_cell table_cell_step_name(enum cell_step_kind is, struct table_place from,
                                       struct table_place to)
{
    return (struct table_cell){.is = CELL_STEP, .step = (uint8_t)is, .between = {from, to, {0}}};
}

static void encode_place(struct encoder *out, struct table_place place)
{
    encode_u32(out, place.process);
    encode_u64(out, place.address);
}

static struct table_place decode_place(struct decoder *in)
{
    struct table_place place = {.process = decode_u32(in)};
    place.address = decode_u64(in);
    return place;
}

static void encode_cell(struct encoder *out, const struct table_cell *cell)
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
    case CELL_DATA:
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

/* Always sets the cell; the caller frees its text. */
static void decode_cell(struct decoder *in, struct table_cell *cell)
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
    case CELL_DATA:
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

/* Frees an array of cells and their texts. */
static void table_cells_free(struct table_cell *cells, size_t count)
{
    for (size_t i = 0; cells && i < count; i++)
        if (cells[i].is == CELL_TEXT)
            free(cells[i].text);
    free(cells);
}

const char *table_column_kind_name(unsigned kind)
{
    static const char *const words[TABLE_KIND_COUNT] = {
#define K(NAME, word) word,
        TABLE_KINDS(K)
#undef K
    };
    return kind < TABLE_KIND_COUNT ? words[kind] : "";
}

/* ---- requests ---- */

const char *table_option(const struct table_request *r, const char *key)
{
    for (uint32_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].key, key) == 0)
            return r->options[i].value;
    return NULL;
}

static void encode_table_end_of(struct encoder *out, const struct table_end *end)
{
    encode_u8(out, end->is);
    encode_u64(out, (uint64_t)end->at);
    encode_event_id(out, end->event);
}

static struct table_end decode_table_end_of(struct decoder *in)
{
    struct table_end end = {.is = decode_u8(in)};
    end.at = (int64_t)decode_u64(in);
    end.event = decode_event_id(in);
    if (end.is >= TABLE_END_KINDS)
        decoder_fail(in, "a table from or to something unknown");
    return end;
}

void encode_table_request(struct encoder *out, const struct table_request *r)
{
    encode_string(out, r->what);
    encode_string(out, r->by);
    encode_table_end_of(out, &r->from);
    encode_table_end_of(out, &r->to);
    encode_event_id(out, r->past_of);
    encode_numbers(out, r->lines, r->line_count);
    encode_string(out, r->sort);
    encode_u32(out, r->top);
    encode_u32(out, r->flags);
    encode_u32(out, r->option_count);
    for (uint32_t i = 0; i < r->option_count; i++) {
        encode_string(out, r->options[i].key);
        encode_string(out, r->options[i].value);
    }
}

static uint32_t decode_limited(struct decoder *in, size_t least, uint32_t most, const char *why)
{
    uint32_t n = decode_count(in, least);
    if (n > most)
        decoder_fail(in, why);
    return in->error ? 0 : n;
}

static void decode_options(struct decoder *in, struct table_request *r)
{
    uint32_t n = decode_limited(in, 8, LIMIT_TABLE_OPTIONS, "a table with too many options");
    r->options = decode_array(in, n, sizeof *r->options);
    for (; r->options && !in->error && r->option_count < n; r->option_count++) {
        r->options[r->option_count].key = decode_string(in, LIMIT_TEXT_BYTES);
        r->options[r->option_count].value = decode_string(in, LIMIT_OPTION_BYTES);
    }
}

void decode_table_request(struct decoder *in, struct table_request *r)
{
    *r = (struct table_request){.what = decode_string(in, LIMIT_TEXT_BYTES)};
    r->by = decode_string(in, LIMIT_TEXT_BYTES);
    r->from = decode_table_end_of(in);
    r->to = decode_table_end_of(in);
    r->past_of = decode_event_id(in);
    uint32_t n = decode_limited(in, 4, LIMIT_LINES_ASKED, "a table of too many lines");
    r->lines = decode_array(in, n, sizeof *r->lines);
    for (; r->lines && !in->error && r->line_count < n; r->line_count++)
        r->lines[r->line_count] = decode_u32(in);
    r->sort = decode_string(in, LIMIT_TEXT_BYTES);
    r->top = decode_u32(in);
    r->flags = decode_u32(in);
    decode_options(in, r);
}

void table_request_free(struct table_request *r)
{
    free(r->what);
    free(r->by);
    free(r->lines);
    free(r->sort);
    for (uint32_t i = 0; i < r->option_count; i++) {
        free(r->options[i].key);
        free(r->options[i].value);
    }
    free(r->options);
    *r = (struct table_request){0};
}

/* ---- heads ---- */

void encode_table_head(struct encoder *out, const struct result_table *t)
{
    encode_string(out, t->title);
    encode_u32(out, t->column_count);
    for (uint32_t i = 0; i < t->column_count; i++) {
        const struct table_column *c = &t->columns[i];
        encode_string(out, c->name);
        encode_string(out, c->title);
        encode_string(out, c->unit);
        encode_u8(out, c->kind);
        encode_u8(out, c->exact | (unsigned)c->detail << 1);
        encode_u32(out, c->under);
        encode_string(out, c->source);
    }
}

#define COLUMN_BYTES 22u /* minimum encoded size of a column */

void decode_table_head(struct decoder *in, struct result_table *t)
{
    result_table_free(t);
    t->title = decode_string(in, LIMIT_TEXT_BYTES);
    uint32_t n =
        decode_limited(in, COLUMN_BYTES, LIMIT_TABLE_COLUMNS, "a table of too many columns");
    t->columns = decode_array(in, n, sizeof *t->columns);
    for (; t->columns && !in->error && t->column_count < n; t->column_count++) {
        struct table_column *c = &t->columns[t->column_count];
        c->name = decode_string(in, LIMIT_TEXT_BYTES);
        c->title = decode_string(in, LIMIT_TEXT_BYTES);
        c->unit = decode_string(in, LIMIT_TEXT_BYTES);
        c->kind = decode_u8(in);
        uint8_t how = decode_u8(in);
        c->exact = how & 1;
        c->detail = how & 2;
        c->under = decode_u32(in);
        c->source = decode_string(in, LIMIT_TEXT_BYTES);
        if (c->kind >= TABLE_KIND_COUNT)
            decoder_fail(in, "a column of an unknown kind");
        if (c->under > t->column_count)
            decoder_fail(in, "a column under one that comes later");
    }
}

/* ---- rows ---- */

static void encode_row(struct encoder *out, const struct table_row *row)
{
    encode_u8(out, row->depth);
    encode_event_id(out, row->event);
    encode_numbers(out, row->lines, row->line_count);
    encode_u32(out, row->context_count);
    for (uint32_t i = 0; i < row->context_count; i++)
        encode_place(out, row->context[i]);
}

void encode_table_rows(struct encoder *out, const struct result_table *t, uint32_t first,
                       uint32_t end)
{
    encode_u32(out, t->column_count);
    encode_u32(out, end - first);
    for (uint32_t i = first; i < end; i++) {
        encode_row(out, &t->rows[i]);
        for (uint32_t k = 0; k < t->column_count; k++)
            encode_cell(out, &result_table_cells(t, i)[k]);
    }
}

static void decode_row(struct decoder *in, struct table_row *row)
{
    *row = (struct table_row){.depth = decode_u8(in)};
    row->event = decode_event_id(in);
    row->lines = decode_numbers(in, &row->line_count);
    uint32_t n = decode_count(in, PLACE_BYTES);
    row->context = decode_array(in, n, sizeof *row->context);
    for (; row->context && !in->error && row->context_count < n; row->context_count++)
        row->context[row->context_count] = decode_place(in);
}

#define ROW_BYTES 21u /* minimum encoded size of a row, without its cells */

/* Reserves space for `more` rows. Returns false if there are none, or with in->error. */
static bool make_room(struct decoder *in, struct result_table *t, uint32_t more)
{
    uint32_t all = t->row_count + more;
    if (all > LIMIT_TABLE_ROWS || (uint64_t)all * t->column_count > LIMIT_TABLE_CELLS)
        decoder_fail(in, "a table of too many rows");
    if (in->error || !more)
        return false;
    struct table_row *rows = realloc(t->rows, all * sizeof *rows);
    t->rows = rows ? rows : t->rows;
    size_t cells_room = (size_t)all * t->column_count + 1;
    struct table_cell *cells = realloc(t->cells, cells_room * sizeof *cells);
    t->cells = cells ? cells : t->cells;
    if (!rows || !cells)
        decoder_fail(in, "out of memory");
    return rows && cells;
}

void decode_table_rows(struct decoder *in, struct result_table *t)
{
    uint32_t columns = decode_u32(in), n = decode_count(in, ROW_BYTES + t->column_count);
    if (columns != t->column_count)
        decoder_fail(in, "rows of another table");
    if (!make_room(in, t, n))
        return;
    for (uint32_t i = 0; i < n && !in->error; i++) {
        struct table_cell *cells = result_table_cells(t, t->row_count);
        memset(cells, 0, columns * sizeof *cells);
        decode_row(in, &t->rows[t->row_count++]);
        for (uint32_t k = 0; k < columns && !in->error; k++)
            decode_cell(in, &cells[k]);
    }
}

/* ---- ends ---- */

void encode_table_end(struct encoder *out, const struct result_table *t)
{
    encode_u64(out, t->known);
    encode_u64(out, t->count);
    encode_string(out, t->problem);
    uint32_t n = t->total ? t->column_count : 0;
    encode_u32(out, n);
    for (uint32_t i = 0; i < n; i++)
        encode_cell(out, &t->total[i]);
    encode_u32(out, t->note_count);
    for (uint32_t i = 0; i < t->note_count; i++)
        encode_string(out, t->notes[i]);
}

static void decode_total(struct decoder *in, struct result_table *t)
{
    uint32_t n = decode_count(in, 1);
    if (n && (n != t->column_count || t->total))
        decoder_fail(in, "totals of another table");
    if (in->error || !n)
        return;
    t->total = decode_array(in, n, sizeof *t->total);
    for (uint32_t i = 0; t->total && !in->error && i < n; i++)
        decode_cell(in, &t->total[i]);
}

static void decode_notes(struct decoder *in, struct result_table *t)
{
    uint32_t n = decode_count(in, 4);
    if (n && t->notes)
        decoder_fail(in, "two ends of a table");
    if (in->error || !n)
        return;
    t->notes = decode_array(in, n, sizeof *t->notes);
    for (; t->notes && !in->error && t->note_count < n; t->note_count++)
        t->notes[t->note_count] = decode_string(in, LIMIT_TEXT_BYTES);
}

void decode_table_end(struct decoder *in, struct result_table *t)
{
    t->known = decode_u64(in);
    t->count = decode_u64(in);
    char *problem = decode_string(in, LIMIT_TEXT_BYTES);
    free(t->problem);
    t->problem = problem && *problem ? problem : NULL;
    if (!t->problem)
        free(problem);
    decode_total(in, t);
    decode_notes(in, t);
}

uint32_t result_table_find_column(const struct result_table *t, const char *name)
{
    size_t n = strlen(name);
    for (uint32_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return i;
    for (uint32_t i = 0; i < t->column_count; i++)
        if (strncmp(t->columns[i].name, name, n) == 0 && strcmp(t->columns[i].name + n, "_ns") == 0)
            return i;
    return t->column_count;
}

/* ---- freeing ---- */

static void columns_free(struct result_table *t)
{
    for (uint32_t i = 0; t->columns && i < t->column_count; i++) {
        free(t->columns[i].name);
        free(t->columns[i].title);
        free(t->columns[i].unit);
        free(t->columns[i].source);
    }
    free(t->columns);
}

void result_table_truncate(struct result_table *t, uint32_t rows)
{
    if (rows >= t->row_count)
        return;
    size_t from = (size_t)rows * t->column_count, end = (size_t)t->row_count * t->column_count;
    for (size_t i = from; i < end; i++) /* (the array itself is kept) */
        if (t->cells[i].is == CELL_TEXT)
            free(t->cells[i].text);
    for (uint32_t i = rows; i < t->row_count; i++) {
        free(t->rows[i].lines);
        free(t->rows[i].context);
    }
    t->row_count = rows;
}

void result_table_free(struct result_table *t)
{
    table_cells_free(t->cells, (size_t)t->row_count * t->column_count);
    table_cells_free(t->total, t->column_count);
    columns_free(t);
    for (uint32_t i = 0; i < t->row_count; i++) {
        free(t->rows[i].lines);
        free(t->rows[i].context);
    }
    free(t->rows);
    for (uint32_t i = 0; i < t->note_count; i++)
        free(t->notes[i]);
    free(t->notes);
    free(t->problem);
    free(t->title);
    *t = (struct result_table){0};
}

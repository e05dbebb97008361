#include "wire/table.h"

#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

const char *table_kind_word(unsigned kind)
{
    static const char *const words[TABLE_KIND_COUNT] = {
#define K(NAME, word) word,
        TABLE_KINDS(K)
#undef K
    };
    return kind < TABLE_KIND_COUNT ? words[kind] : "";
}

/* ---- the question ---- */

const char *table_option(const struct table_request *r, const char *key)
{
    for (uint32_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].key, key) == 0)
            return r->options[i].value;
    return NULL;
}

static void put_table_end_of(struct out *out, const struct table_end *end)
{
    put_u8(out, end->is);
    put_u64(out, (uint64_t)end->at);
    put_ref(out, end->event);
}

static struct table_end get_table_end_of(struct in *in)
{
    struct table_end end = {.is = get_u8(in)};
    end.at = (int64_t)get_u64(in);
    end.event = get_ref(in);
    if (end.is >= TABLE_END_KINDS)
        in_fail(in, "a table from or to something unknown");
    return end;
}

void put_table_request(struct out *out, const struct table_request *r)
{
    put_string(out, r->what);
    put_string(out, r->by);
    put_table_end_of(out, &r->from);
    put_table_end_of(out, &r->to);
    put_ref(out, r->past_of);
    put_u32(out, r->line_count);
    for (uint32_t i = 0; i < r->line_count; i++)
        put_u32(out, r->lines[i]);
    put_string(out, r->sort);
    put_u32(out, r->top);
    put_u32(out, r->flags);
    put_u32(out, r->option_count);
    for (uint32_t i = 0; i < r->option_count; i++) {
        put_string(out, r->options[i].key);
        put_string(out, r->options[i].value);
    }
}

static uint32_t get_limited(struct in *in, size_t least, uint32_t most, const char *why)
{
    uint32_t n = get_count(in, least);
    if (n > most)
        in_fail(in, why);
    return in->error ? 0 : n;
}

static void get_options(struct in *in, struct table_request *r)
{
    uint32_t n = get_limited(in, 8, LIMIT_TABLE_OPTIONS, "a table with too many options");
    r->options = get_room(in, n, sizeof *r->options);
    for (; r->options && !in->error && r->option_count < n; r->option_count++) {
        r->options[r->option_count].key = get_string(in, LIMIT_TEXT_BYTES);
        r->options[r->option_count].value = get_string(in, LIMIT_OPTION_BYTES);
    }
}

void get_table_request(struct in *in, struct table_request *r)
{
    *r = (struct table_request){.what = get_string(in, LIMIT_TEXT_BYTES)};
    r->by = get_string(in, LIMIT_TEXT_BYTES);
    r->from = get_table_end_of(in);
    r->to = get_table_end_of(in);
    r->past_of = get_ref(in);
    uint32_t n = get_limited(in, 4, LIMIT_LINES_ASKED, "a table of too many lines");
    r->lines = get_room(in, n, sizeof *r->lines);
    for (; r->lines && !in->error && r->line_count < n; r->line_count++)
        r->lines[r->line_count] = get_u32(in);
    r->sort = get_string(in, LIMIT_TEXT_BYTES);
    r->top = get_u32(in);
    r->flags = get_u32(in);
    get_options(in, r);
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

/* ---- the head ---- */

void put_table_head(struct out *out, const struct shown_table *t)
{
    put_string(out, t->title);
    put_u32(out, t->column_count);
    for (uint32_t i = 0; i < t->column_count; i++) {
        const struct table_column *c = &t->columns[i];
        put_string(out, c->name);
        put_string(out, c->title);
        put_string(out, c->unit);
        put_u8(out, c->kind);
        put_u8(out, c->exact | (unsigned)c->detail << 1);
        put_u32(out, c->under);
        put_string(out, c->source);
    }
}

#define COLUMN_BYTES 22u /* of one, at least */

void get_table_head(struct in *in, struct shown_table *t)
{
    shown_table_free(t);
    t->title = get_string(in, LIMIT_TEXT_BYTES);
    uint32_t n = get_limited(in, COLUMN_BYTES, LIMIT_TABLE_COLUMNS, "a table of too many columns");
    t->columns = get_room(in, n, sizeof *t->columns);
    for (; t->columns && !in->error && t->column_count < n; t->column_count++) {
        struct table_column *c = &t->columns[t->column_count];
        c->name = get_string(in, LIMIT_TEXT_BYTES);
        c->title = get_string(in, LIMIT_TEXT_BYTES);
        c->unit = get_string(in, LIMIT_TEXT_BYTES);
        c->kind = get_u8(in);
        uint8_t how = get_u8(in);
        c->exact = how & 1;
        c->detail = how & 2;
        c->under = get_u32(in);
        c->source = get_string(in, LIMIT_TEXT_BYTES);
        if (c->kind >= TABLE_KIND_COUNT)
            in_fail(in, "a column of an unknown kind");
        if (c->under > t->column_count)
            in_fail(in, "a column under one that comes later");
    }
}

/* ---- rows ---- */

static void put_row(struct out *out, const struct table_row *row)
{
    put_u8(out, row->depth);
    put_ref(out, row->event);
    put_u32(out, row->line_count);
    for (uint32_t i = 0; i < row->line_count; i++)
        put_u32(out, row->lines[i]);
    put_u32(out, row->context_count);
    for (uint32_t i = 0; i < row->context_count; i++)
        put_place(out, row->context[i]);
}

void put_table_rows(struct out *out, const struct shown_table *t, uint32_t first, uint32_t end)
{
    put_u32(out, t->column_count);
    put_u32(out, end - first);
    for (uint32_t i = first; i < end; i++) {
        put_row(out, &t->rows[i]);
        for (uint32_t k = 0; k < t->column_count; k++)
            put_cell(out, &table_cells(t, i)[k]);
    }
}

static void get_row(struct in *in, struct table_row *row)
{
    *row = (struct table_row){.depth = get_u8(in)};
    row->event = get_ref(in);
    uint32_t n = get_count(in, 4);
    row->lines = get_room(in, n, sizeof *row->lines);
    for (; row->lines && !in->error && row->line_count < n; row->line_count++)
        row->lines[row->line_count] = get_u32(in);
    n = get_count(in, PLACE_BYTES);
    row->context = get_room(in, n, sizeof *row->context);
    for (; row->context && !in->error && row->context_count < n; row->context_count++)
        row->context[row->context_count] = get_place(in);
}

#define ROW_BYTES 21u /* of one without cells */

/* Room for so many more rows; false: there is none. */
static bool make_room(struct in *in, struct shown_table *t, uint32_t more)
{
    uint32_t all = t->row_count + more;
    if (all > LIMIT_TABLE_ROWS || (uint64_t)all * t->column_count > LIMIT_TABLE_CELLS)
        in_fail(in, "a table of too many rows");
    if (in->error || !more)
        return false;
    struct table_row *rows = realloc(t->rows, all * sizeof *rows);
    t->rows = rows ? rows : t->rows;
    size_t cells_room = (size_t)all * t->column_count + 1;
    struct table_cell *cells = realloc(t->cells, cells_room * sizeof *cells);
    t->cells = cells ? cells : t->cells;
    if (!rows || !cells)
        in_fail(in, "out of memory");
    return rows && cells;
}

void get_table_rows(struct in *in, struct shown_table *t)
{
    uint32_t columns = get_u32(in), n = get_count(in, ROW_BYTES + t->column_count);
    if (columns != t->column_count)
        in_fail(in, "rows of another table");
    if (!make_room(in, t, n))
        return;
    for (uint32_t i = 0; i < n && !in->error; i++) {
        struct table_cell *cells = table_cells(t, t->row_count);
        memset(cells, 0, columns * sizeof *cells);
        get_row(in, &t->rows[t->row_count++]);
        for (uint32_t k = 0; k < columns && !in->error; k++)
            get_cell(in, &cells[k]);
    }
}

/* ---- the end ---- */

void put_table_end(struct out *out, const struct shown_table *t)
{
    put_u64(out, t->known);
    put_u64(out, t->count);
    put_string(out, t->problem);
    uint32_t n = t->total ? t->column_count : 0;
    put_u32(out, n);
    for (uint32_t i = 0; i < n; i++)
        put_cell(out, &t->total[i]);
    put_u32(out, t->note_count);
    for (uint32_t i = 0; i < t->note_count; i++)
        put_string(out, t->notes[i]);
}

static void get_total(struct in *in, struct shown_table *t)
{
    uint32_t n = get_count(in, 1);
    if (n && (n != t->column_count || t->total))
        in_fail(in, "totals of another table");
    if (in->error || !n)
        return;
    t->total = get_room(in, n, sizeof *t->total);
    for (uint32_t i = 0; t->total && !in->error && i < n; i++)
        get_cell(in, &t->total[i]);
}

static void get_notes(struct in *in, struct shown_table *t)
{
    uint32_t n = get_count(in, 4);
    if (n && t->notes)
        in_fail(in, "two ends of a table");
    if (in->error || !n)
        return;
    t->notes = get_room(in, n, sizeof *t->notes);
    for (; t->notes && !in->error && t->note_count < n; t->note_count++)
        t->notes[t->note_count] = get_string(in, LIMIT_TEXT_BYTES);
}

void get_table_end(struct in *in, struct shown_table *t)
{
    t->known = get_u64(in);
    t->count = get_u64(in);
    char *problem = get_string(in, LIMIT_TEXT_BYTES);
    free(t->problem);
    t->problem = problem && *problem ? problem : NULL;
    if (!t->problem)
        free(problem);
    get_total(in, t);
    get_notes(in, t);
}

uint32_t table_find(const struct shown_table *t, const char *name)
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

static void columns_free(struct shown_table *t)
{
    for (uint32_t i = 0; t->columns && i < t->column_count; i++) {
        free(t->columns[i].name);
        free(t->columns[i].title);
        free(t->columns[i].unit);
        free(t->columns[i].source);
    }
    free(t->columns);
}

void shown_table_free(struct shown_table *t)
{
    cells_free(t->cells, (size_t)t->row_count * t->column_count);
    cells_free(t->total, t->column_count);
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
    *t = (struct shown_table){0};
}

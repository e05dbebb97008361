/* Charts of thread states along time, in a file or on the terminal. */
#define _GNU_SOURCE
#include "clients/cli/chart_output.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "render/state_chart.h"
#include "wire/limits.h"
#include "wire/request.h"
#include "wire/state_bands.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Columns of the table of states. */
enum { THREAD, BEGIN, END, WANTED };
static const char *const wanted[WANTED] = {"thread", "start_ns", "end_ns"};

#define ROWS_ASKED 256u /* rows per request */

struct state_charts {
    const struct table_settings *tables;
    const struct trace_metadata *book;
    const struct result_table *table;
    uint32_t at[WANTED]; /* column indices in the table */
    struct state_chart chart;
    struct state_charts_row { /* by row of the chart */
        uint32_t line;
        int64_t from_ns, to_ns; /* its lifetime within the requested range */
    } *rows;
    uint32_t row_count;
    struct state_bands strip; /* the latest response */
    char title[300], below[400];
};

/* ---- the rows ---- */

static const struct table_cell *state_charts_table_cell_at(const struct state_charts *c,
                                                           uint32_t row, unsigned column)
{
    return &result_table_cells(c->table, row)[c->at[column]];
}

static void state_charts_receive_range(struct state_charts *c, int64_t from, int64_t to)
{
    struct state_chart *chart = &c->chart;
    bool first = chart->from_ns == chart->to_ns;
    chart->from_ns = first || from < chart->from_ns ? from : chart->from_ns;
    chart->to_ns = first || to > chart->to_ns ? to : chart->to_ns;
}

static void state_charts_receive_rows(struct state_charts *c)
{
    for (uint32_t i = 0; i < c->table->row_count; i++) {
        const struct table_cell *thread = state_charts_table_cell_at(c, i, THREAD),
                                *from = state_charts_table_cell_at(c, i, BEGIN),
                                *to = state_charts_table_cell_at(c, i, END);
        if (thread->is != CELL_LINE || from->is != CELL_NUMBER || to->is != CELL_NUMBER)
            continue;
        struct chart_row shown = {.name = metadata_label(c->book, thread->line)};
        struct state_charts_row row = {thread->line, from->number, to->number};
        ARRAY_PUSH(c->chart.rows, c->chart.row_count, shown);
        ARRAY_PUSH(c->rows, c->row_count, row);
        state_charts_receive_range(c, row.from_ns, row.to_ns);
    }
}

/* ---- pixels ---- */

static void state_charts_receive_strip(void *user, const struct response_chunk *answer)
{
    struct state_charts *c = user;
    if (answer->part != RESPONSE_STATE_BANDS)
        return;
    state_bands_free(&c->strip);
    decode_state_bands(answer->in, &c->strip);
    decoder_finish(answer->in);
}

static struct chart_pixel state_charts_pixel(const struct state_band_cell *cell)
{
    struct chart_pixel pixel = {{0}};
    for (unsigned k = 0; k < BAND_LIVINGS; k++) {
        uint8_t *all = &pixel.share[band_thread_state_code(k)];
        unsigned share = *all + cell->share[k];
        *all = share < 255 ? (uint8_t)share : 255;
    }
    return pixel;
}

/* Copies the shares from the response, which has no row for a line without any. */
static void state_charts_copy_shares(struct state_charts *c, uint32_t first, uint32_t count)
{
    const struct state_bands *s = &c->strip;
    for (uint32_t i = 0, row = first; i < s->row_count; i++) {
        while (row < first + count && c->rows[row].line != s->rows[i])
            row++;
        if (row == first + count || s->pixels != c->chart.pixels || s->classes != BAND_LIVINGS)
            return;
        for (uint32_t p = 0; p < s->pixels; p++)
            c->chart.rows[row].pixels[p] = state_charts_pixel(&s->cells[(size_t)i * s->pixels + p]);
    }
}

static bool state_charts_request_rows(struct state_charts *c, struct command_source *subject,
                                      uint32_t first, uint32_t count)
{
    uint32_t lines[ROWS_ASKED];
    uint8_t joined[ROWS_ASKED] = {0};
    int64_t untils[ROWS_ASKED];
    struct encoder body = {0};
    for (uint32_t i = 0; i < count; i++) {
        lines[i] = c->rows[first + i].line;
        untils[i] = c->rows[first + i].to_ns;
    }
    struct density_request request = {.by_time = true,
                                      .living = true,
                                      .from = c->chart.from_ns,
                                      .to = c->chart.to_ns,
                                      .pixels = c->chart.pixels,
                                      .rows = lines,
                                      .joined = joined,
                                      .row_count = count,
                                      .untils = untils};
    encode_density_request(&body, &request);
    if (!command_source_request(c->tables->command, subject, REQUEST_STATE_BANDS, &body,
                                state_charts_receive_strip, c))
        return false;
    state_charts_copy_shares(c, first, count);
    return true;
}

static bool state_charts_request_shares(struct state_charts *c, struct command_source *subject)
{
    bool good = true;
    for (uint32_t i = 0; i < c->row_count; i++)
        c->chart.rows[i].pixels = xcalloc(c->chart.pixels, sizeof(struct chart_pixel));
    for (uint32_t i = 0; good && i < c->row_count; i += ROWS_ASKED)
        good = state_charts_request_rows(
            c, subject, i, c->row_count - i < ROWS_ASKED ? c->row_count - i : ROWS_ASKED);
    return good;
}

/* ---- the critical path ---- */

/* Returns 1 + the row of each line, 0: none; the caller frees it. *lines: its length. */
static uint32_t *state_charts_rows_by_line(const struct state_charts *c, uint32_t *lines)
{
    *lines = 0;
    for (uint32_t i = 0; i < c->row_count; i++)
        *lines = c->rows[i].line >= *lines ? c->rows[i].line + 1 : *lines;
    uint32_t *rows = xcalloc(*lines + 1, sizeof *rows);
    for (uint32_t i = 0; i < c->row_count; i++)
        rows[c->rows[i].line] = i + 1;
    return rows;
}

static void state_charts_receive_path(struct state_charts *c, const struct result_table *pieces)
{
    uint32_t thread = result_table_find_column(pieces, "thread"),
             from = result_table_find_column(pieces, "from_ns"),
             took = result_table_find_column(pieces, "critical_path_ns"), lines;
    if (thread == pieces->column_count || from == pieces->column_count ||
        took == pieces->column_count)
        return;
    uint32_t *rows = state_charts_rows_by_line(c, &lines);
    for (uint32_t i = 0; i < pieces->row_count; i++) {
        const struct table_cell *cells = result_table_cells(pieces, i);
        bool is = cells[thread].is == CELL_LINE && cells[thread].line < lines;
        uint32_t row = is ? rows[cells[thread].line] : 0;
        struct chart_piece piece = {row - 1, cells[from].number,
                                    cells[from].number + cells[took].number};
        if (row)
            ARRAY_PUSH(c->chart.way, c->chart.way_count, piece);
    }
    free(rows);
    c->chart.way_name = "critical path";
}

/* Lets the overview begin at the start of the second thread. */
static void state_charts_begin_with_second(struct state_charts *c)
{
    int64_t first = INT64_MAX, second = INT64_MAX;
    for (uint32_t i = 0; i < c->row_count; i++) {
        int64_t at = c->rows[i].from_ns;
        second = at < first ? first : at < second ? at : second;
        first = at < first ? at : first;
    }
    if (second < c->chart.to_ns)
        c->chart.from_ns = second;
}

/* ---- kinds of charts ---- */

static const char *const kinds[] = {"transitions", "gantt", "overview", NULL};

bool state_charts_known(const char *word)
{
    for (size_t i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], word) == 0)
            return true;
    return false;
}

/* Returns how the state "running" was determined, from the source of the table's column. */
static const char *state_charts_running_text(const struct state_charts *c)
{
    uint32_t at = result_table_find_column(c->table, "running_ns");
    bool known = at < c->table->column_count && c->table->columns[at].source &&
                 strncmp(c->table->columns[at].source, "order", 5) != 0;
    return c->chart.overview ? ""
           : known           ? "; CPU states from context-switch records or samples"
                             : "; running = time outside traced waits";
}

/* Writes the text below the chart: "begins 2026-11-22 17:34:49.123 UTC" for its left edge
 * (independent of the time zone), and how to read it. */
static void state_charts_report_clock(struct state_charts *c, const struct result_table *pieces)
{
    uint64_t ns = c->book->run.wall_ns + (uint64_t)(c->chart.from_ns > 0 ? c->chart.from_ns : 0);
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char day[40];
    strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &tm));
    snprintf(c->below, sizeof c->below,
             "begins %s.%03u UTC; times since the start of the run; each pixel shows shares%s%s%s",
             day, (unsigned)(ns / 1000000u % 1000u), state_charts_running_text(c),
             pieces && pieces->row_count >= LIMIT_TABLE_ROWS ? "; not all of the path: " : "",
             pieces && pieces->row_count >= LIMIT_TABLE_ROWS && pieces->note_count
                 ? pieces->notes[0]
                 : "");
}

static void state_charts_build(struct state_charts *c, const struct result_table *pieces)
{
    c->chart.overview = strcmp(c->tables->chart, "transitions") != 0;
    state_charts_receive_rows(c);
    if (pieces)
        state_charts_receive_path(c, pieces);
    else if (c->chart.overview)
        state_charts_begin_with_second(c);
    if (c->chart.to_ns <= c->chart.from_ns)
        c->chart.to_ns = c->chart.from_ns + 1;
    snprintf(c->title, sizeof c->title, "%s: %s", c->book->run.name,
             pieces              ? "critical path"
             : c->chart.overview ? "thread activity"
                                 : "thread states");
    c->chart.title = c->title;
    state_charts_report_clock(c, pieces);
    c->chart.below = c->below;
}

/* ---- output ---- */

static void state_charts_print(const void *chart, FILE *f) { state_chart_text_print(chart, f); }

static int state_charts_draw(const struct state_charts *c)
{
    const char *file = c->tables->file;
    struct document_options page = c->tables->page;
    page.format = output_format_document(output_format_of(file));
    page.title = c->title;
    page.date = (time_t)(c->book->run.wall_ns / 1000000000u);
    const char *why;
    return state_chart_write(&c->chart, &page, file, &why)
               ? EXIT_DONE
               : command_fail(c->tables->command, "%s: %s", file, why);
}

static int state_charts_write_chart(struct state_charts *c, struct command_source *subject)
{
    const char *file = c->tables->file;
    enum output_format format = file ? output_format_of(file) : OUTPUT_TEXT;
    bool text = format == OUTPUT_TEXT;
    if (!text && !output_format_is_picture(format))
        return command_usage(c->tables->command, "-o %s: a chart is a .pdf, .svg, .png or .txt",
                             file);
    if (!c->row_count)
        return command_fail(c->tables->command, "no thread to draw");
    if (!text && c->row_count > CHART_ROWS_MOST)
        return command_fail(c->tables->command,
                            "%u threads are too many for a picture: choose some with --threads",
                            c->row_count);
    c->chart.pixels = text ? state_chart_text_width(&c->chart, terminal_text_columns())
                           : state_chart_pixels(&c->chart, &c->tables->page);
    if (!state_charts_request_shares(c, subject))
        return EXIT_FAILED;
    return text ? output_format_print(c->tables->command, c->tables->file, state_charts_print,
                                      &c->chart)
                : state_charts_draw(c);
}

int state_charts_write(const struct table_settings *o, struct command_source *subject,
                       const struct result_table *table, const struct result_table *pieces)
{
    struct state_charts c = {.tables = o, .book = &subject->source.book, .table = table};
    for (unsigned i = 0; i < WANTED; i++) {
        c.at[i] = result_table_find_column(table, wanted[i]);
        if (c.at[i] == table->column_count)
            return command_fail(o->command, "the server sends no %s of states", wanted[i]);
    }
    state_charts_build(&c, pieces);
    int status = state_charts_write_chart(&c, subject);
    for (uint32_t i = 0; i < c.chart.row_count; i++)
        free(c.chart.rows[i].pixels);
    state_bands_free(&c.strip);
    free(c.chart.rows);
    free(c.chart.way);
    free(c.rows);
    return status;
}

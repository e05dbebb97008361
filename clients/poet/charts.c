#define _GNU_SOURCE
#include "clients/poet/charts.h"

#include "memory/memory.h"
#include "render/chart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Columns of the table of spells. */
enum { THREAD, STATE, FROM, TOOK, UNEXPLAINED, WANTED };
static const char *const wanted[WANTED] = {"thread", "state", "from_ns", "took_ns", "unexplained"};

struct charting {
    const struct tables *tables;
    const struct book *book;
    const struct shown_table *table;
    uint32_t at[WANTED]; /* of the table */
    struct chart chart;
    uint32_t *lines, line_count; /* by row */
    char title[300], below[400];
};

/* ---- from the table ---- */

static const struct table_cell *cell(const struct charting *c, uint32_t row, unsigned column)
{
    return &table_cells(c->table, row)[c->at[column]];
}

static uint8_t state_of(const struct charting *c, uint32_t row)
{
    const struct table_cell *state = cell(c, row, STATE), *why = cell(c, row, UNEXPLAINED);
    if (why->is == CELL_TEXT && strcmp(why->text, "open") != 0)
        return CHART_UNKNOWN;
    for (unsigned i = 0; i < CHART_STATES; i++)
        if (state->is == CELL_TEXT && strcmp(state->text, chart_word(i)) == 0)
            return (uint8_t)i;
    return CHART_UNKNOWN;
}

static struct chart_row *row_of(struct charting *c, uint32_t line, uint32_t *last)
{
    if (line != *last) {
        struct chart_row row = {.name = book_label(c->book, line)};
        PUSH(c->lines, c->line_count, line);
        PUSH(c->chart.rows, c->chart.row_count, row);
    }
    *last = line;
    return &c->chart.rows[c->chart.row_count - 1];
}

static void take_range(struct charting *c, int64_t from, int64_t to)
{
    struct chart *chart = &c->chart;
    bool first = chart->from_ns == chart->to_ns;
    chart->from_ns = first || from < chart->from_ns ? from : chart->from_ns;
    chart->to_ns = first || to > chart->to_ns ? to : chart->to_ns;
}

/* (A thread's spells come one after the other.) */
static void take_spells(struct charting *c)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < c->table->row_count; i++) {
        const struct table_cell *thread = cell(c, i, THREAD), *from = cell(c, i, FROM),
                                *took = cell(c, i, TOOK);
        if (thread->is != CELL_LINE || from->is != CELL_NUMBER || took->is != CELL_NUMBER)
            continue;
        struct chart_row *row = row_of(c, thread->line, &last);
        struct chart_span span = {from->number, from->number + took->number, state_of(c, i)};
        PUSH(row->spans, row->span_count, span);
        take_range(c, span.from_ns, span.to_ns);
    }
}

/* ---- the critical path ---- */

/* Of a line, the row; the count, if it has none. */
static uint32_t row_named(const struct charting *c, uint32_t line)
{
    uint32_t row = 0;
    while (row < c->chart.row_count && c->lines[row] != line)
        row++;
    return row;
}

static void take_path(struct charting *c, const struct shown_table *pieces)
{
    uint32_t thread = table_find(pieces, "thread"), from = table_find(pieces, "from_ns"),
             took = table_find(pieces, "path_ns");
    if (thread == pieces->column_count || from == pieces->column_count ||
        took == pieces->column_count)
        return;
    for (uint32_t i = 0; i < pieces->row_count; i++) {
        const struct table_cell *cells = table_cells(pieces, i);
        uint32_t row =
            cells[thread].is == CELL_LINE ? row_named(c, cells[thread].line) : c->chart.row_count;
        struct chart_piece piece = {row, cells[from].number,
                                    cells[from].number + cells[took].number};
        if (row < c->chart.row_count)
            PUSH(c->chart.way, c->chart.way_count, piece);
    }
    c->chart.way_name = "critical path";
}

/* An overview begins when there are two threads. */
static void begin_with_two(struct charting *c)
{
    int64_t first = INT64_MAX, second = INT64_MAX;
    for (uint32_t i = 0; i < c->chart.row_count; i++) {
        int64_t at = c->chart.rows[i].spans[0].from_ns;
        second = at < first ? first : at < second ? at : second;
        first = at < first ? at : first;
    }
    if (second < c->chart.to_ns)
        c->chart.from_ns = second;
}

/* ---- which chart ---- */

static const char *const kinds[] = {"transitions", "gantt", "overview", NULL};

bool charts_known(const char *word)
{
    for (size_t i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], word) == 0)
            return true;
    return false;
}

/* "begins 2026-11-22 17:34:49.123 UTC": the time of day at the left edge, the same wherever it is drawn; and what of the
 * table is not there. */
static void say_clock(struct charting *c)
{
    uint64_t ns = c->book->run.wall_ns + (uint64_t)(c->chart.from_ns > 0 ? c->chart.from_ns : 0);
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char day[40];
    strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &tm));
    snprintf(
        c->below, sizeof c->below,
        "begins %s.%03u UTC; times count from the run's begin; each pixel shows shares; running "
        "is what no wait accounts for%s%s",
        day, (unsigned)(ns / 1000000u % 1000u), c->table->note_count ? "; not all of it: " : "",
        c->table->note_count ? c->table->notes[0] : "");
}

static void make(struct charting *c, const struct shown_table *pieces)
{
    c->chart.overview = strcmp(c->tables->chart, "transitions") != 0;
    take_spells(c);
    if (pieces)
        take_path(c, pieces);
    else if (c->chart.overview)
        begin_with_two(c);
    if (c->chart.to_ns <= c->chart.from_ns)
        c->chart.to_ns = c->chart.from_ns + 1;
    snprintf(c->title, sizeof c->title, "%s: %s", c->book->run.name,
             pieces              ? "what decided how long it took"
             : c->chart.overview ? "when threads were at work"
                                 : "states of threads");
    c->chart.title = c->title;
    say_clock(c);
    c->chart.below = c->below;
}

/* ---- where it goes ---- */

static unsigned terminal_width(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
               ? size.ws_col
               : 100;
}

static int write_text(const struct charting *c)
{
    const char *file = c->tables->file;
    FILE *f = file ? fopen(file, "we") : stdout;
    if (!f)
        return command_fail(c->tables->command, "%s: %s", file, strerror(errno));
    chart_print(&c->chart, terminal_width(), f);
    bool bad = ferror(f);
    if (file)
        bad |= fclose(f) != 0;
    return bad && file ? command_fail(c->tables->command, "%s: %s", file, strerror(errno))
                       : EXIT_DONE;
}

static bool ends(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static int write_chart(const struct charting *c)
{
    const char *file = c->tables->file;
    struct page_options page = c->tables->page;
    if (!file || ends(file, ".txt"))
        return write_text(c);
    if (!ends(file, ".pdf") && !ends(file, ".svg") && !ends(file, ".png"))
        return command_usage(c->tables->command, "-o %s: a chart is a .pdf, .svg, .png or .txt",
                             file);
    page.format = ends(file, ".pdf") ? PAGE_PDF : ends(file, ".svg") ? PAGE_SVG : PAGE_PNG;
    page.title = c->title;
    page.date = (time_t)(c->book->run.wall_ns / 1000000000u);
    const char *why = chart_write(&c->chart, &page, file);
    return why ? command_fail(c->tables->command, "%s: %s", file, why) : EXIT_DONE;
}

int charts_write(const struct tables *o, const struct subject *subject,
                 const struct shown_table *table, const struct shown_table *pieces)
{
    struct charting c = {.tables = o, .book = &subject->source.book, .table = table};
    for (unsigned i = 0; i < WANTED; i++) {
        c.at[i] = table_find(table, wanted[i]);
        if (c.at[i] == table->column_count)
            return command_fail(o->command, "the server tells no %s of states", wanted[i]);
    }
    make(&c, pieces);
    int status = c.chart.row_count ? write_chart(&c)
                                   : command_fail(o->command, "there is no thread to be drawn");
    for (uint32_t i = 0; i < c.chart.row_count; i++)
        free(c.chart.rows[i].spans);
    free(c.chart.rows);
    free(c.chart.way);
    free(c.lines);
    return status;
}

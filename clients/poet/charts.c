#define _GNU_SOURCE
#include "clients/poet/charts.h"

#include "clients/poet/pager.h"
#include "memory/memory.h"
#include "render/chart.h"
#include "wire/asked.h"
#include "wire/limits.h"
#include "wire/strip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Columns of the table of states. */
enum { THREAD, BEGIN, END, WANTED };
static const char *const wanted[WANTED] = {"thread", "begin_ns", "end_ns"};

#define ROWS_ASKED 256u /* of one strip */

struct charting {
    const struct tables *tables;
    const struct book *book;
    const struct shown_table *table;
    uint32_t at[WANTED]; /* of the table */
    struct chart chart;
    struct row { /* of the chart */
        uint32_t line;
        int64_t from_ns, to_ns; /* its life, as far as it is asked for */
    } *rows;
    uint32_t row_count;
    struct shown_strip strip; /* the newest */
    char title[300], below[400];
};

/* ---- the rows ---- */

static const struct table_cell *cell(const struct charting *c, uint32_t row, unsigned column)
{
    return &table_cells(c->table, row)[c->at[column]];
}

static void take_range(struct charting *c, int64_t from, int64_t to)
{
    struct chart *chart = &c->chart;
    bool first = chart->from_ns == chart->to_ns;
    chart->from_ns = first || from < chart->from_ns ? from : chart->from_ns;
    chart->to_ns = first || to > chart->to_ns ? to : chart->to_ns;
}

static void take_rows(struct charting *c)
{
    for (uint32_t i = 0; i < c->table->row_count; i++) {
        const struct table_cell *thread = cell(c, i, THREAD), *from = cell(c, i, BEGIN),
                                *to = cell(c, i, END);
        if (thread->is != CELL_LINE || from->is != CELL_NUMBER || to->is != CELL_NUMBER)
            continue;
        struct chart_row shown = {.name = book_label(c->book, thread->line)};
        struct row row = {thread->line, from->number, to->number};
        PUSH(c->chart.rows, c->chart.row_count, shown);
        PUSH(c->rows, c->row_count, row);
        take_range(c, row.from_ns, row.to_ns);
    }
}

/* ---- what is in their pixels ---- */

static void take_strip(void *user, const struct answer *answer)
{
    struct charting *c = user;
    if (answer->part != PART_STRIP)
        return;
    shown_strip_free(&c->strip);
    get_strip(answer->in, &c->strip);
    in_done(answer->in);
}

static struct chart_pixel pixel_of(const struct strip_cell *cell)
{
    static const uint8_t states[STRIP_LIVINGS] = {
        [STRIP_LIVING_START] = CHART_START,         [STRIP_LIVING_READY] = CHART_READY,
        [STRIP_LIVING_RUNNING] = CHART_RUNNING,     [STRIP_LIVING_MEETING] = CHART_BLOCKED,
        [STRIP_LIVING_EXCLUSION] = CHART_BLOCKED,   [STRIP_LIVING_TIMER] = CHART_BLOCKED,
        [STRIP_LIVING_TERMINATE] = CHART_TERMINATE, [STRIP_LIVING_UNKNOWN] = CHART_UNKNOWN,
        [STRIP_LIVING_SYSTEM] = CHART_SYSTEM};
    struct chart_pixel pixel = {{0}};
    for (unsigned k = 0; k < STRIP_LIVINGS; k++) {
        unsigned share = pixel.share[states[k]] + cell->share[k];
        pixel.share[states[k]] = share < 255 ? (uint8_t)share : 255;
    }
    return pixel;
}

/* (A line that has nothing in the strip has no row in it.) */
static void take_shares(struct charting *c, uint32_t first, uint32_t count)
{
    const struct shown_strip *s = &c->strip;
    for (uint32_t i = 0, row = first; i < s->row_count; i++) {
        while (row < first + count && c->rows[row].line != s->rows[i])
            row++;
        if (row == first + count || s->pixels != c->chart.pixels || s->classes != STRIP_LIVINGS)
            return;
        for (uint32_t p = 0; p < s->pixels; p++)
            c->chart.rows[row].pixels[p] = pixel_of(&s->cells[(size_t)i * s->pixels + p]);
    }
}

static bool ask_rows(struct charting *c, struct subject *subject, uint32_t first, uint32_t count)
{
    uint32_t lines[ROWS_ASKED];
    uint8_t joined[ROWS_ASKED] = {0};
    int64_t untils[ROWS_ASKED];
    struct out body = {0};
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
    put_density_request(&body, &request);
    if (!subject_ask(c->tables->command, subject, ASK_STRIP, &body, take_strip, c))
        return false;
    take_shares(c, first, count);
    return true;
}

static bool ask_shares(struct charting *c, struct subject *subject)
{
    bool good = true;
    for (uint32_t i = 0; i < c->row_count; i++)
        c->chart.rows[i].pixels = memory_zeroed(c->chart.pixels, sizeof(struct chart_pixel));
    for (uint32_t i = 0; good && i < c->row_count; i += ROWS_ASKED)
        good =
            ask_rows(c, subject, i, c->row_count - i < ROWS_ASKED ? c->row_count - i : ROWS_ASKED);
    return good;
}

/* ---- the critical path ---- */

/* By line, 1 + its row; the caller's.  lines: so many. */
static uint32_t *rows_by_line(const struct charting *c, uint32_t *lines)
{
    *lines = 0;
    for (uint32_t i = 0; i < c->row_count; i++)
        *lines = c->rows[i].line >= *lines ? c->rows[i].line + 1 : *lines;
    uint32_t *rows = memory_zeroed(*lines + 1, sizeof *rows);
    for (uint32_t i = 0; i < c->row_count; i++)
        rows[c->rows[i].line] = i + 1;
    return rows;
}

static void take_path(struct charting *c, const struct shown_table *pieces)
{
    uint32_t thread = table_find(pieces, "thread"), from = table_find(pieces, "from_ns"),
             took = table_find(pieces, "path_ns"), lines;
    if (thread == pieces->column_count || from == pieces->column_count ||
        took == pieces->column_count)
        return;
    uint32_t *rows = rows_by_line(c, &lines);
    for (uint32_t i = 0; i < pieces->row_count; i++) {
        const struct table_cell *cells = table_cells(pieces, i);
        bool is = cells[thread].is == CELL_LINE && cells[thread].line < lines;
        uint32_t row = is ? rows[cells[thread].line] : 0;
        struct chart_piece piece = {row - 1, cells[from].number,
                                    cells[from].number + cells[took].number};
        if (row)
            PUSH(c->chart.way, c->chart.way_count, piece);
    }
    free(rows);
    c->chart.way_name = "critical path";
}

/* An overview begins when there are two threads. */
static void begin_with_two(struct charting *c)
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

/* ---- which chart ---- */

static const char *const kinds[] = {"transitions", "gantt", "overview", NULL};

bool charts_known(const char *word)
{
    for (size_t i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], word) == 0)
            return true;
    return false;
}

/* What a chart's running is; the table says from what it knows. */
static const char *say_running(const struct charting *c)
{
    uint32_t at = table_find(c->table, "running_ns");
    bool known = at < c->table->column_count && c->table->columns[at].source &&
                 strncmp(c->table->columns[at].source, "order", 5) != 0;
    return c->chart.overview ? ""
           : known ? "; running, ready, system: as processors did, by switch records or samples"
                   : "; running is what no wait accounts for";
}

/* "begins 2026-11-22 17:34:49.123 UTC": the time of day at the left edge, the same wherever it is drawn; and how what is
 * drawn is to be read. */
static void say_clock(struct charting *c, const struct shown_table *pieces)
{
    uint64_t ns = c->book->run.wall_ns + (uint64_t)(c->chart.from_ns > 0 ? c->chart.from_ns : 0);
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char day[40];
    strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &tm));
    snprintf(c->below, sizeof c->below,
             "begins %s.%03u UTC; times count from the run's begin; each pixel shows shares%s%s%s",
             day, (unsigned)(ns / 1000000u % 1000u), say_running(c),
             pieces && pieces->row_count >= LIMIT_TABLE_ROWS ? "; not all of the path: " : "",
             pieces && pieces->row_count >= LIMIT_TABLE_ROWS && pieces->note_count
                 ? pieces->notes[0]
                 : "");
}

static void make(struct charting *c, const struct shown_table *pieces)
{
    c->chart.overview = strcmp(c->tables->chart, "transitions") != 0;
    take_rows(c);
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
    say_clock(c, pieces);
    c->chart.below = c->below;
}

/* ---- where it goes ---- */

static unsigned terminal_width(void)
{
    unsigned columns = pager_columns();
    return columns ? columns : 100;
}

static int write_text(const struct charting *c)
{
    const char *file = c->tables->file;
    FILE *f = file ? fopen(file, "we") : stdout;
    if (!f)
        return command_fail(c->tables->command, "%s: %s", file, strerror(errno));
    chart_print(&c->chart, f);
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

static int write_picture(const struct charting *c)
{
    const char *file = c->tables->file;
    struct page_options page = c->tables->page;
    page.format = ends(file, ".pdf") ? PAGE_PDF : ends(file, ".svg") ? PAGE_SVG : PAGE_PNG;
    page.title = c->title;
    page.date = (time_t)(c->book->run.wall_ns / 1000000000u);
    const char *why = chart_write(&c->chart, &page, file);
    return why ? command_fail(c->tables->command, "%s: %s", file, why) : EXIT_DONE;
}

static int write_chart(struct charting *c, struct subject *subject)
{
    const char *file = c->tables->file;
    bool text = !file || ends(file, ".txt");
    if (!text && !ends(file, ".pdf") && !ends(file, ".svg") && !ends(file, ".png"))
        return command_usage(c->tables->command, "-o %s: a chart is a .pdf, .svg, .png or .txt",
                             file);
    if (!c->row_count)
        return command_fail(c->tables->command, "there is no thread to be drawn");
    if (!text && c->row_count > CHART_ROWS_MOST)
        return command_fail(c->tables->command,
                            "%u threads are too many for a picture: choose some with --lines",
                            c->row_count);
    c->chart.pixels = text ? chart_letters(&c->chart, terminal_width())
                           : chart_pixels(&c->chart, &c->tables->page);
    if (!ask_shares(c, subject))
        return EXIT_FAILED;
    return text ? write_text(c) : write_picture(c);
}

int charts_write(const struct tables *o, struct subject *subject, const struct shown_table *table,
                 const struct shown_table *pieces)
{
    struct charting c = {.tables = o, .book = &subject->source.book, .table = table};
    for (unsigned i = 0; i < WANTED; i++) {
        c.at[i] = table_find(table, wanted[i]);
        if (c.at[i] == table->column_count)
            return command_fail(o->command, "the server tells no %s of states", wanted[i]);
    }
    make(&c, pieces);
    int status = write_chart(&c, subject);
    for (uint32_t i = 0; i < c.chart.row_count; i++)
        free(c.chart.rows[i].pixels);
    shown_strip_free(&c.strip);
    free(c.chart.rows);
    free(c.chart.way);
    free(c.rows);
    return status;
}

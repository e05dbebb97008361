/* Lines of the page of poet report: cut or wrapped at 80 columns. */
#include "clients/cli/report_page.h"

#include "base/alloc.h"
#include "clients/metadata/event_text.h"
#include "clients/metadata/text_table.h"

#include <stdlib.h>
#include <string.h>

void report_line_print(FILE *f, char *line)
{
    size_t bytes = strlen(line);
    bool cut = text_table_width(line) > REPORT_WIDTH;
    while (cut && text_table_width(line) > REPORT_WIDTH - 3) {
        do
            bytes--;
        while (((unsigned char)line[bytes] & 0xc0) == 0x80); /* a whole character */
        line[bytes] = 0;
    }
    fprintf(f, "%s%s\n", line, cut ? "..." : "");
    free(line);
}

void report_line_wrap(FILE *f, char *begin, char *text)
{
    size_t indent = text_table_width(begin);
    for (char *rest = text; *rest || *begin;) {
        size_t end = strlen(rest), shorter;
        while (end > REPORT_WIDTH - indent) { /* up to the last blank that fits */
            for (shorter = end - 1; shorter && rest[shorter] != ' '; shorter--)
                ;
            if (!shorter)
                break;
            end = shorter;
        }
        report_line_print(
            f, xasprintf("%s%*s%.*s", begin, *begin ? 0 : (int)indent, "", (int)end, rest));
        rest += end + (rest[end] == ' ');
        *begin = 0;
    }
    free(begin);
    free(text);
}

void report_line_indent(FILE *f, int indent, char *text)
{
    report_line_wrap(f, xasprintf("%*s", indent, ""), text);
}

void report_line_title(FILE *f, const char *title, uint32_t left, const char *command,
                       const char *source)
{
    char *more =
        left ? xasprintf("%u more: poet %s", left, command) : xasprintf("more: poet %s", command);
    size_t room = REPORT_WIDTH - text_table_width(title) - 2;
    if (source && text_table_width(more) + 1 + text_table_width(source) <= room) {
        char *longer = xasprintf("%s %s", more, source);
        free(more);
        more = longer;
    }
    fprintf(f, "\n%s%*s%s\n", title, (int)(REPORT_WIDTH - text_table_width(title) - strlen(more)),
            "", more);
    free(more);
}

char *report_line_duration(int64_t ns)
{
    char text[60];
    duration_text(text, sizeof text, ns);
    return xstrdup(text);
}

char *report_line_time_column(int64_t ns)
{
    char *text = ns ? report_line_duration(ns) : xstrdup("-");
    int width = (int)text_table_width(text);
    char *column = xasprintf("  %*s%s  ", width < 8 ? 8 - width : 0, "", text);
    free(text);
    return column;
}

/* ---- cells ---- */

const struct table_cell *report_cell(const struct result_table *t, uint32_t row, const char *name)
{
    static const struct table_cell nothing = {0};
    uint32_t column = result_table_find_column(t, name);
    const struct table_cell *cells = row == REPORT_TOTAL  ? t->total
                                     : row < t->row_count ? result_table_cells(t, row)
                                                          : NULL;
    return cells && column < t->column_count ? &cells[column] : &nothing;
}

const char *report_cell_string(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *cell = report_cell(t, row, name);
    return cell->is == CELL_TEXT ? cell->text : "";
}

int64_t report_cell_number(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *cell = report_cell(t, row, name);
    return cell->is == CELL_NUMBER && cell->number > 0 ? cell->number : 0;
}

#include "clients/cli/icicle_chart.h"

#include "clients/cli/pager.h"
#include "clients/connection/table_to_icicle.h"
#include "base/alloc.h"
#include "render/icicle_drawing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WIDTH_LETTERS 100u /* without a terminal */

static bool icicle_chart_has_suffix(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static bool is_picture(const char *file)
{
    return file && (icicle_chart_has_suffix(file, ".pdf") ||
                    icicle_chart_has_suffix(file, ".svg") || icicle_chart_has_suffix(file, ".png"));
}

static bool is_tree(const struct table_section *section)
{
    static const char *const trees[] = {"calls", "waits", "memory", NULL};
    for (size_t i = 0; section->what && trees[i]; i++)
        if (strcmp(trees[i], section->what) == 0)
            return true;
    return false;
}

/* Selected columns, and differences to another run, need a table. */
bool icicle_chart_wanted(const struct table_settings *o, const struct table_section *sections,
                         size_t count)
{
    bool table = o->columns || o->baseline || o->json || o->csv;
    if (count != 1 || !is_tree(sections))
        return false;
    if (o->chart)
        return strcmp(o->chart, "icicle") == 0;
    return (o->width_of || o->tree) && is_picture(o->file) && !table;
}

bool icicle_chart_form(const struct table_settings *o)
{
    return !o->file || is_picture(o->file) || icicle_chart_has_suffix(o->file, ".txt");
}

/* ---- writing ---- */

static unsigned terminal_width(void)
{
    unsigned columns = pager_columns();
    return columns ? columns : WIDTH_LETTERS;
}

static int write_text(const struct table_settings *o, const struct icicle_layout *boxes)
{
    FILE *f = o->file ? fopen(o->file, "we") : stdout;
    if (!f)
        return command_fail(o->command, "%s: %s", o->file, strerror(errno));
    icicle_text_print(boxes, terminal_width(), f);
    bool bad = ferror(f);
    if (o->file)
        bad |= fclose(f) != 0;
    return bad && o->file ? command_fail(o->command, "%s: %s", o->file, strerror(errno))
                          : EXIT_DONE;
}

static int write_picture(const struct table_settings *o, const struct command_source *subject,
                         const struct icicle_layout *boxes)
{
    struct document_options page = o->page;
    page.format = icicle_chart_has_suffix(o->file, ".pdf")   ? DOCUMENT_PDF
                  : icicle_chart_has_suffix(o->file, ".svg") ? DOCUMENT_SVG
                                                             : DOCUMENT_PNG;
    page.title = boxes->title;
    page.date = (time_t)(subject->source.book.run.wall_ns / 1000000000u);
    const char *why = icicle_page_write(boxes, 0, &page, o->file);
    return why ? command_fail(o->command, "%s: %s", o->file, why) : EXIT_DONE;
}

static int write_boxes(const struct table_settings *o, const struct command_source *subject,
                       struct icicle_layout *boxes)
{
    char *title = xasprintf("%s: %s", subject->source.book.run.name, boxes->title);
    free(boxes->title);
    boxes->title = title;
    if (boxes->count < 2 || !boxes->nodes[0].size)
        return command_fail(o->command, "nothing to draw%s%s", boxes->note_count ? ": " : "",
                            boxes->note_count ? boxes->notes[0] : "");
    return is_picture(o->file) ? write_picture(o, subject, boxes) : write_text(o, boxes);
}

static int no_measure(const struct table_settings *o, const struct result_table *t)
{
    if (o->width_of)
        return command_fail(o->command, "--width-of %s: no row has a size there", o->width_of);
    return command_fail(o->command, "nothing to draw%s%s", t->note_count ? ": " : "",
                        t->note_count ? t->notes[0] : "");
}

struct table_settings icicle_chart_tables(const struct table_settings *o)
{
    struct table_settings tree = *o;
    tree.tree = true;
    if (!tree.sort)
        tree.sort = o->width_of;
    return tree;
}

int icicle_chart_write(const struct table_settings *o, const struct command_source *subject,
                       const struct result_table *table)
{
    struct table_names names = {&subject->source.book, subject->sites};
    uint32_t column = table_to_icicle_column(table, o->width_of);
    struct icicle_layout boxes = {0};
    if (column == table->column_count)
        return no_measure(o, table);
    table_to_icicle_make(&boxes, &names, table, column);
    int status = write_boxes(o, subject, &boxes);
    icicle_layout_free(&boxes);
    return status;
}

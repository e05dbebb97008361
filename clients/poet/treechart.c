#include "clients/poet/treechart.h"

#include "clients/poet/pager.h"
#include "clients/source/boxing.h"
#include "memory/memory.h"
#include "render/icicle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WIDTH_LETTERS 100u /* where there is no terminal */

static bool ends(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static bool is_picture(const char *file)
{
    return file && (ends(file, ".pdf") || ends(file, ".svg") || ends(file, ".png"));
}

static bool is_tree(const struct tables_section *section)
{
    static const char *const trees[] = {"calls", "waits", "memory", NULL};
    for (size_t i = 0; section->what && trees[i]; i++)
        if (strcmp(trees[i], section->what) == 0)
            return true;
    return false;
}

/* Columns that are chosen, and differences to another run, are a table. */
bool treechart_wanted(const struct tables *o, const struct tables_section *sections, size_t count)
{
    bool table = o->columns || o->against || o->json || o->csv;
    if (count != 1 || !is_tree(sections))
        return false;
    if (o->chart)
        return strcmp(o->chart, "icicle") == 0;
    return (o->width_of || o->tree) && is_picture(o->file) && !table;
}

bool treechart_form(const struct tables *o)
{
    return !o->file || is_picture(o->file) || ends(o->file, ".txt");
}

/* ---- writing ---- */

static unsigned terminal_width(void)
{
    unsigned columns = pager_columns();
    return columns ? columns : WIDTH_LETTERS;
}

static int write_text(const struct tables *o, const struct boxes *boxes)
{
    FILE *f = o->file ? fopen(o->file, "we") : stdout;
    if (!f)
        return command_fail(o->command, "%s: %s", o->file, strerror(errno));
    icicle_print(boxes, terminal_width(), f);
    bool bad = ferror(f);
    if (o->file)
        bad |= fclose(f) != 0;
    return bad && o->file ? command_fail(o->command, "%s: %s", o->file, strerror(errno))
                          : EXIT_DONE;
}

static int write_picture(const struct tables *o, const struct subject *subject,
                         const struct boxes *boxes)
{
    struct page_options page = o->page;
    page.format = ends(o->file, ".pdf") ? PAGE_PDF : ends(o->file, ".svg") ? PAGE_SVG : PAGE_PNG;
    page.title = boxes->title;
    page.date = (time_t)(subject->source.book.run.wall_ns / 1000000000u);
    const char *why = icicle_write(boxes, 0, &page, o->file);
    return why ? command_fail(o->command, "%s: %s", o->file, why) : EXIT_DONE;
}

static int write_boxes(const struct tables *o, const struct subject *subject, struct boxes *boxes)
{
    char *title = memory_printed("%s: %s", subject->source.book.run.name, boxes->title);
    free(boxes->title);
    boxes->title = title;
    if (boxes->count < 2 || !boxes->nodes[0].size)
        return command_fail(o->command, "there is nothing to be drawn%s%s",
                            boxes->note_count ? ": " : "",
                            boxes->note_count ? boxes->notes[0] : "");
    return is_picture(o->file) ? write_picture(o, subject, boxes) : write_text(o, boxes);
}

static int no_measure(const struct tables *o, const struct shown_table *t)
{
    if (o->width_of)
        return command_fail(o->command, "--width-of %s: no row has a size there", o->width_of);
    return command_fail(o->command, "there is nothing to be drawn%s%s", t->note_count ? ": " : "",
                        t->note_count ? t->notes[0] : "");
}

struct tables treechart_tables(const struct tables *o)
{
    struct tables tree = *o;
    tree.tree = true;
    if (!tree.sort)
        tree.sort = o->width_of;
    return tree;
}

int treechart_write(const struct tables *o, const struct subject *subject,
                    const struct shown_table *table)
{
    struct table_names names = {&subject->source.book, subject->sites};
    uint32_t column = boxing_column(table, o->width_of);
    struct boxes boxes = {0};
    if (column == table->column_count)
        return no_measure(o, table);
    boxing_make(&boxes, &names, table, column);
    int status = write_boxes(o, subject, &boxes);
    boxes_free(&boxes);
    return status;
}

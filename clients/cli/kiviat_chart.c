#include "clients/cli/kiviat_chart.h"

#include "base/alloc.h"
#include "render/kiviat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct table_cell *kiviat_chart_cell(const struct result_table *t, uint32_t row,
                                                  const char *name)
{
    uint32_t column = result_table_find_column(t, name);
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    return cell && cell->is != CELL_NULL ? cell : NULL;
}

static const char *kiviat_chart_cell_text(const struct result_table *t, uint32_t row,
                                          const char *name)
{
    const struct table_cell *cell = kiviat_chart_cell(t, row, name);
    return cell && cell->is == CELL_TEXT ? cell->text : "";
}

static bool kiviat_chart_number(const struct result_table *t, uint32_t row, const char *name,
                                double *value)
{
    const struct table_cell *cell = kiviat_chart_cell(t, row, name);
    if (!cell || (cell->is != CELL_NUMBER && cell->is != CELL_REAL))
        return false;
    *value = cell->is == CELL_NUMBER ? (double)cell->number : cell->real;
    return isfinite(*value) && *value >= 0;
}

/* Returns the end of an axis: 1 for a share, 100 for a percentage; 0 for other values, which have
 * no natural end: an arbitrary scale would decide how good they look. */
static double kiviat_chart_axis_end(double value, const char *unit)
{
    bool percent = strcmp(unit, "%") == 0;
    double end = percent ? 100 : 1;
    return (percent || !*unit) && value <= end ? end : 0;
}

static void kiviat_chart_add_axis(struct kiviat *k, const struct result_table *t, uint32_t row)
{
    const char *good = kiviat_chart_cell_text(t, row, "better"),
               *unit = kiviat_chart_cell_text(t, row, "unit");
    double value, end;
    bool formula = !kiviat_chart_cell(t, row, "count");
    if (!*good || !formula || !kiviat_chart_number(t, row, "total", &value) ||
        (end = kiviat_chart_axis_end(value, unit)) <= 0)
        return;
    struct kiviat_axis axis = {.name = xstrdup(kiviat_chart_cell_text(t, row, "metric")),
                               .amount = xasprintf("%.4g%s%s", value, *unit ? " " : "", unit),
                               .end = xasprintf("%.4g%s%s", end, *unit ? " " : "", unit),
                               .value = value / end,
                               .high = strcmp(good, "high") == 0};
    k->axes = xreallocarray(k->axes, k->count + 1, sizeof *k->axes);
    k->axes[k->count++] = axis;
}

static bool kiviat_chart_has_suffix(const char *file, const char *ending)
{
    size_t n = file ? strlen(file) : 0, e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static int kiviat_chart_print(const struct table_settings *o, const struct kiviat *k)
{
    FILE *f = o->file ? fopen(o->file, "we") : stdout;
    if (!f)
        return command_fail(o->command, "%s: cannot be written", o->file);
    kiviat_print(k, f);
    bool good = !ferror(f) && (f == stdout || fclose(f) == 0);
    return good ? EXIT_DONE : command_fail(o->command, "%s: cannot be written", o->file);
}

static int kiviat_chart_draw(const struct table_settings *o, const struct command_source *subject,
                             const struct kiviat *k)
{
    struct document_options page = o->page;
    bool pdf = kiviat_chart_has_suffix(o->file, ".pdf"),
         svg = kiviat_chart_has_suffix(o->file, ".svg"),
         png = kiviat_chart_has_suffix(o->file, ".png");
    if (k->count < KIVIAT_AXES_LEAST)
        return command_fail(
            o->command,
            "--chart kiviat: needs %u formulas that are shares, or in %%, and have good = "
            "\"high\" or \"low\": there %s %u (docs/config.md)",
            KIVIAT_AXES_LEAST, k->count == 1 ? "is" : "are", k->count);
    if (!o->file || kiviat_chart_has_suffix(o->file, ".txt"))
        return kiviat_chart_print(o, k);
    if (!pdf && !svg && !png)
        return command_usage(o->command, "--chart kiviat: -o FILE.pdf, .svg, .png or .txt");
    page.format = pdf ? DOCUMENT_PDF : svg ? DOCUMENT_SVG : DOCUMENT_PNG;
    page.title = k->title;
    page.date = (time_t)(subject->source.book.run.wall_ns / 1000000000u);
    const char *why = kiviat_write(k, &page, o->file);
    return why ? command_fail(o->command, "%s: %s", o->file, why) : EXIT_DONE;
}

int kiviat_chart_write(const struct table_settings *o, const struct command_source *subject,
                       const struct result_table *t)
{
    char *title = xasprintf("%s: Kiviat graph of metrics", subject->source.book.run.name);
    struct kiviat k = {.title = title,
                       .below = "a regular star means all metrics are good: far out where high is "
                                "better, near the center where low is"};
    for (uint32_t i = 0; i < t->row_count; i++)
        if (t->rows[i].depth == 0)
            kiviat_chart_add_axis(&k, t, i);
    kiviat_arrange(&k);
    int status = kiviat_chart_draw(o, subject, &k);
    for (unsigned i = 0; i < k.count; i++) {
        free(k.axes[i].name);
        free(k.axes[i].amount);
        free(k.axes[i].end);
    }
    free(k.axes);
    free(title);
    return status;
}

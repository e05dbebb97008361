#include "clients/cli/paper_size.h"

#include <stdlib.h>
#include <string.h>

#define PAGES_UNASKED 20
#define SHRINK 0.67 /* default scale, so that more rows fit a page */

static const struct {
    const char *name;
    double width_mm, height_mm;
} papers[] = {
    {"a4", 297, 210}, {"a3", 420, 297}, {"letter", 279.4, 215.9}, {"legal", 355.6, 215.9}};

static bool paper_size_is_length(double mm) { return mm >= 50 && mm <= 5000; } /* not NaN */

bool paper_size_by_name(const char *s, struct document_options *page)
{
    double width, height;
    int end = -1;
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        if (strcasecmp(s, papers[i].name) == 0) {
            page->paper_width_pt = papers[i].width_mm * 72 / 25.4;
            page->paper_height_pt = papers[i].height_mm * 72 / 25.4;
            return true;
        }
    if (sscanf(s, "%lfx%lfmm%n", &width, &height, &end) != 2 || end < 0 || s[end] ||
        !paper_size_is_length(width) || !paper_size_is_length(height))
        return false;
    page->paper_width_pt = width * 72 / 25.4;
    page->paper_height_pt = height * 72 / 25.4;
    return true;
}

void paper_size_is_portrait(struct document_options *page)
{
    paper_size_by_name("a4", page);
    double width = page->paper_width_pt;
    page->paper_width_pt = page->paper_height_pt;
    page->paper_height_pt = width;
}

bool paper_size_width(const char *s, double *points)
{
    char *end;
    double v = strtod(s, &end);
    double unit = strcmp(end, "mm") == 0   ? 72 / 25.4
                  : strcmp(end, "cm") == 0 ? 720 / 25.4
                  : strcmp(end, "in") == 0 ? 72
                  : strcmp(end, "pt") == 0 ? 1
                                           : 0;
    *points = v * unit;
    return end != s && *points >= 20 && *points <= PAGE_LIMIT_PT;
}

void paper_size_default(struct document_options *page)
{
    paper_size_by_name("a4", page);
    page->shrink = SHRINK;
}

bool paper_size_choose(const struct command *command, const struct event_diagram *p,
                       const struct scene *scene, struct document_options *page)
{
    bool image = page->format != DOCUMENT_PDF;
    bool range = p->view || diagram_range_is_set(p);
    if (page->paper_width_pt <= 0 && page->width_pt <= 0 && !image &&
        (scene->column_count > PAPER_COLUMNS || scene->width_pt > PAGE_LIMIT_PT ||
         scene->height_pt > PAGE_LIMIT_PT)) {
        paper_size_default(page);
    }
    unsigned pages = document_count(scene, page);
    bool too_large = (image || page->width_pt <= 0) && document_is_too_large(scene, page);
    bool cut = p->window.more_right && !range && !p->all;
    if ((pages <= PAGES_UNASKED || p->all || range) && !too_large && !cut)
        return true;
    char on_pages[40] = "";
    if (!image)
        snprintf(on_pages, sizeof on_pages, ", %u page%s", pages, plural_suffix(pages));
    command_fail(
        command,
        "the diagram has %s%u column%s and %u row%s%s: " PAPER_CHOOSE "%s, or insist with --all%s",
        p->window.more_right ? "more than " : "", scene->column_count,
        plural_suffix(scene->column_count), scene->row_count, plural_suffix(scene->row_count),
        on_pages, too_large && image ? ", draw it in bands with --wrap, write an SVG" : "",
        too_large ? " on a PDF" : "");
    return false;
}

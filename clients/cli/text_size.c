#include "clients/cli/text_size.h"

#include "render/paper_bands.h"

#include <stdio.h>

#define LEAST_PT 5.0   /* smallest letters readable on paper */
#define SCALE 0.8      /* of bands: gives letters of 6 points */
#define WIDTH_PT 482.0 /* default width of bands: 17 cm, the text width of a page */
#define MARGINS_PT 56.0
#define EDGES_PT 16.0 /* margin of a drawing left and right of its columns */

void text_size_choose_wrap(const struct scene *scene, struct document_options *page, enum wrap wrap)
{
    bool image = page->format != DOCUMENT_PDF;
    if (image && page->paper_width_pt > 0) { /* an image has no pages: use the page's width */
        page->width_pt = page->paper_width_pt;
        page->paper_width_pt = page->paper_height_pt = 0;
        wrap = wrap == WRAP_WHERE_SMALL ? WRAP : wrap;
    }
    if (page->paper_width_pt > 0 || scene->vertical)
        return;
    bool small = page->width_pt > 0 && SCENE_LABEL_PT * page->width_pt / scene->width_pt < LEAST_PT;
    page->wrap = wrap == WRAP || (wrap == WRAP_WHERE_SMALL && small);
    if (page->wrap && page->width_pt <= 0)
        page->width_pt = WIDTH_PT;
    page->wrap_scale = SCALE;
}

double text_size_legend_pt(const struct document_options *page)
{
    return page->paper_width_pt > 0 ? page->paper_width_pt - MARGINS_PT
           : page->wrap             ? page->width_pt / page->wrap_scale
                                    : 0;
}

/* Returns how many of the last columns fit at a readable size; reduced by a quarter, since a
 * diagram that begins later has more text at its left edge. */
static unsigned columns_that_fit(const struct scene *scene, const struct document_options *page)
{
    double room = page->width_pt * SCENE_LABEL_PT / LEAST_PT - scene->names_pt - EDGES_PT;
    unsigned n = 0;
    for (uint32_t i = scene->column_count; i-- > 0; n++) {
        room -= scene->columns[i].left_pt + scene->columns[i].right_pt;
        if (room < 0)
            break;
    }
    return n - n / 4;
}

void text_size_warn(const struct command *command, const struct scene *scene,
                    const struct document_options *page)
{
    struct paper_bands bands = paper_bands_cut(scene, page);
    double letters = SCENE_LABEL_PT * bands.scale;
    if (letters >= LEAST_PT - 0.02)
        return;
    unsigned fit = bands.paper || page->wrap ? 0 : columns_that_fit(scene, page);
    fprintf(stderr, "poet %s: text is %.1f pt high, too small to read: ", command->name, letters);
    if (page->wrap || bands.paper)
        fprintf(stderr, "line names take most of the width; use --labels name\n");
    else if (fit)
        fprintf(stderr, "--last %u fits%s\n", fit, scene->vertical ? "" : "; or use --wrap");
    else
        fprintf(stderr, "increase --width, or use --wrap\n");
}

#include "clients/poet/bands.h"

#include "memory/memory.h"
#include "render/drawing.h"
#include "render/lettering.h"
#include "render/strip.h"
#include "wire/asked.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH_PT 700.0 /* of the strips */
#define ROW_PT 26.0
#define MARGIN_PT 8.0
#define PIXELS 700u /* one a point: they are painted on whole ones */

struct sheet {
    const struct picture *picture;
    const struct book *book;
    struct shown_strip strip;
    struct strip_look look;
    double title_pt, width_pt, height_pt;
};

static void take_strip(void *user, const struct answer *answer)
{
    struct shown_strip *strip = user;
    if (answer->part != PART_STRIP)
        return;
    shown_strip_free(strip);
    get_strip(answer->in, strip);
    in_done(answer->in);
}

static bool ask(const struct command *command, const struct picture *p, struct subject *subject,
                struct shown_strip *strip)
{
    struct density_request request = {.by_time = p->column_ns > 0,
                                      .pixels = PIXELS,
                                      .rows = p->rows,
                                      .joined = p->joined,
                                      .row_count = p->row_count};
    struct out body = {0};
    put_density_request(&body, &request);
    return subject_ask(command, subject, ASK_STRIP, &body, take_strip, strip);
}

static void measure(struct sheet *d, const struct page_options *page)
{
    double names = 0;
    for (uint32_t i = 0; i < d->strip.row_count; i++)
        names =
            fmax(names, lettering_width(NULL, book_label(d->book, d->strip.rows[i]), 10, false));
    d->look = (struct strip_look){.names_pt = ceil(MARGIN_PT + names + 14),
                                  .width_pt = WIDTH_PT,
                                  .row_pt = ROW_PT,
                                  .dark = page->theme.dark,
                                  .grey = page->theme.grey};
    d->title_pt = d->picture->no_title ? 0 : 24;
    d->width_pt = d->look.names_pt + WIDTH_PT + MARGIN_PT;
    d->height_pt = MARGIN_PT + d->title_pt + STRIP_RULER_PT + 4 + ROW_PT * d->strip.row_count +
                   (d->picture->no_legend ? 0 : STRIP_KEY_PT) + MARGIN_PT;
}

static void paint(void *context, cairo_t *cr)
{
    const struct sheet *d = context;
    double y = MARGIN_PT + d->title_pt, v = d->look.dark ? 0.9 : 0.1;
    if (d->title_pt > 0) {
        cairo_set_source_rgb(cr, v, v, v);
        lettering_show(cr, MARGIN_PT, MARGIN_PT, d->picture->title, 11, true);
    }
    strip_paint_ruler(cr, &d->strip, y, &d->look);
    y += STRIP_RULER_PT + 4;
    for (uint32_t i = 0; i < d->strip.row_count; i++)
        strip_paint_row(cr, &d->strip, d->book, i, y + ROW_PT * i, &d->look);
    if (!d->picture->no_legend)
        strip_paint_key(cr, y + ROW_PT * d->strip.row_count + 4, &d->look);
}

int bands_write(const struct command *command, const struct picture *p, struct subject *subject,
                const struct page_options *page, const char *file)
{
    struct sheet d = {.picture = p, .book = &subject->source.book};
    int status = EXIT_FAILED;
    if (ask(command, p, subject, &d.strip)) {
        measure(&d, page);
        const char *why = drawing_write(
            &(struct drawing){
                .width_pt = d.width_pt, .height_pt = d.height_pt, .paint = paint, .context = &d},
            page, file);
        status = why ? command_fail(command, "%s: %s", file, why) : EXIT_DONE;
    }
    shown_strip_free(&d.strip);
    lettering_forget();
    return status;
}

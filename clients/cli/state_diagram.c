#include "clients/cli/state_diagram.h"

#include "base/alloc.h"
#include "render/drawing_file.h"
#include "render/text_cache.h"
#include "render/state_band_paint.h"
#include "wire/request_body.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH_PT 700.0 /* width of the state bands */
#define ROW_PT 26.0
#define MARGIN_PT 8.0
#define PIXELS 700u /* one per point, so that they are painted on whole points */

struct state_diagram_page {
    const struct event_diagram *picture;
    const struct trace_metadata *book;
    struct state_bands strip;
    struct state_band_style look;
    double title_pt, width_pt, height_pt;
};

static void state_diagram_receive_strip(void *user, const struct response_chunk *answer)
{
    struct state_bands *strip = user;
    if (answer->part != RESPONSE_STATE_BANDS)
        return;
    state_bands_free(strip);
    decode_state_bands(answer->in, strip);
    decoder_finish(answer->in);
}

static bool state_diagram_request_bands(const struct command *command,
                                        const struct event_diagram *p,
                                        struct command_source *subject, struct state_bands *strip)
{
    struct density_request request = {.by_time = p->column_ns > 0,
                                      .pixels = PIXELS,
                                      .rows = p->rows,
                                      .joined = p->joined,
                                      .row_count = p->row_count};
    struct encoder body = {0};
    encode_density_request(&body, &request);
    return command_source_request(command, subject, REQUEST_STATE_BANDS, &body,
                                  state_diagram_receive_strip, strip);
}

static void state_diagram_measure_layout(struct state_diagram_page *d,
                                         const struct document_options *page)
{
    double names = 0;
    for (uint32_t i = 0; i < d->strip.row_count; i++)
        names = fmax(names,
                     text_cache_width(NULL, metadata_label(d->book, d->strip.rows[i]), 10, false));
    d->look = (struct state_band_style){.names_pt = ceil(MARGIN_PT + names + 14),
                                        .width_pt = WIDTH_PT,
                                        .row_pt = ROW_PT,
                                        .dark = page->theme.dark,
                                        .grey = page->theme.grey};
    d->title_pt = d->picture->no_title ? 0 : 24;
    d->width_pt = d->look.names_pt + WIDTH_PT + MARGIN_PT;
    d->height_pt = MARGIN_PT + d->title_pt + STRIP_RULER_PT + 4 + ROW_PT * d->strip.row_count +
                   (d->picture->no_legend ? 0 : STRIP_KEY_PT) + MARGIN_PT;
}

static void state_diagram_paint(void *context, cairo_t *cr)
{
    const struct state_diagram_page *d = context;
    double y = MARGIN_PT + d->title_pt, v = d->look.dark ? 0.9 : 0.1;
    if (d->title_pt > 0) {
        cairo_set_source_rgb(cr, v, v, v);
        text_cache_show(cr, MARGIN_PT, MARGIN_PT, d->picture->title, 11, true);
    }
    state_band_paint_ruler(cr, &d->strip, y, &d->look);
    y += STRIP_RULER_PT + 4;
    for (uint32_t i = 0; i < d->strip.row_count; i++)
        state_band_paint_row(cr, &d->strip, d->book, i, y + ROW_PT * i, &d->look);
    if (!d->picture->no_legend)
        state_band_paint_key(cr, y + ROW_PT * d->strip.row_count + 4, &d->look);
}

int state_diagram_write(const struct command *command, const struct event_diagram *p,
                        struct command_source *subject, const struct document_options *page,
                        const char *file)
{
    struct state_diagram_page d = {.picture = p, .book = &subject->source.book};
    int status = EXIT_FAILED;
    if (state_diagram_request_bands(command, p, subject, &d.strip)) {
        state_diagram_measure_layout(&d, page);
        const char *why = drawing_file_write(&(struct drawing){.width_pt = d.width_pt,
                                                               .height_pt = d.height_pt,
                                                               .paint = state_diagram_paint,
                                                               .context = &d},
                                             page, file);
        status = why ? command_fail(command, "%s: %s", file, why) : EXIT_DONE;
    }
    state_bands_free(&d.strip);
    text_cache_clear();
    return status;
}

#define _GNU_SOURCE
#include "render/page.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARGIN_PT 28.0
#define PNG_SCALE 2.0

struct sink {
    FILE *f;
    int error;
};

static cairo_status_t take(void *context, const unsigned char *data, unsigned length)
{
    struct sink *sink = context;
    if (fwrite(data, 1, length, sink->f) == length)
        return CAIRO_STATUS_SUCCESS;
    sink->error = errno;
    return CAIRO_STATUS_WRITE_ERROR;
}

struct grid { /* how the drawing is cut into paper */
    unsigned across, down;
    double columns_pt; /* width of columns on one page */
    uint32_t rows;     /* rows on one page */
    double scale;
};

static struct grid cut(const struct scene *scene, const struct page_options *o)
{
    struct grid grid = {1, 1, scene->width_pt - scene->names_pt, scene->row_count, 1};
    if (o->paper_width_pt <= 0)
        return grid;
    double width = o->paper_width_pt - 2 * MARGIN_PT, height = o->paper_height_pt - 2 * MARGIN_PT;
    double notes = scene->height_pt - (scene->bottom_pt - scene->top_pt);
    if (scene->names_pt > width * 0.6)
        grid.scale = width * 0.6 / scene->names_pt;
    grid.columns_pt = width / grid.scale - scene->names_pt;
    double rows = floor((height / grid.scale - notes - 14) / SCENE_ROW_PT);
    grid.rows = rows < 1 ? 1 : (uint32_t)rows;
    grid.across = (unsigned)ceil((scene->width_pt - scene->names_pt) / grid.columns_pt);
    grid.down = (scene->row_count + grid.rows - 1) / grid.rows;
    grid.across = grid.across ? grid.across : 1;
    grid.down = grid.down ? grid.down : 1;
    return grid;
}

unsigned page_count(const struct scene *scene, const struct page_options *options)
{
    struct grid grid = cut(scene, options);
    return grid.across * grid.down;
}

static void paint_whole(cairo_t *cr, const struct scene *scene, const struct page_options *o)
{
    struct paint_part part = {scene->names_pt, scene->width_pt, 0, scene->row_count, true};
    struct paint_theme theme = o->theme;
    theme.names = true;
    paint_scene(cr, scene, &theme, &part, &o->selection);
}

/* One sheet: its rows moved up, its columns moved to the names. */
static void paint_sheet(cairo_t *cr, const struct scene *scene, const struct page_options *o,
                        const struct grid *grid, unsigned x, unsigned y)
{
    struct paint_theme theme = o->theme;
    double from = scene->names_pt + x * grid->columns_pt;
    struct paint_part part = {from, fmin(from + grid->columns_pt, scene->width_pt),
                              y * grid->rows, (y + 1) * grid->rows, false};
    if (part.last_row > scene->row_count)
        part.last_row = scene->row_count;
    double up = part.first_row * SCENE_ROW_PT;
    cairo_save(cr);
    cairo_translate(cr, MARGIN_PT, MARGIN_PT);
    cairo_scale(cr, grid->scale, grid->scale);
    cairo_save(cr);
    cairo_translate(cr, 0, -up);
    theme.names = true;
    struct paint_part names = part;
    names.to_pt = names.from_pt;
    paint_scene(cr, scene, &theme, &names, NULL);
    theme.names = false;
    cairo_translate(cr, -(from - scene->names_pt), 0);
    paint_scene(cr, scene, &theme, &part, &o->selection);
    cairo_restore(cr);
    struct paint_part notes = {0, 0, 0, 0, true};
    paint_scene(cr, scene, &theme, &notes, NULL);
    cairo_restore(cr);
    char footer[64];
    snprintf(footer, sizeof footer, "%u / %u", y * grid->across + x + 1, grid->across * grid->down);
    cairo_set_source_rgb(cr, 0.3, 0.3, 0.3);
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, 8);
    cairo_move_to(cr, o->paper_width_pt - MARGIN_PT - 40, o->paper_height_pt - MARGIN_PT / 2);
    cairo_show_text(cr, footer);
}

void page_paint(cairo_t *cr, const struct scene *scene, const struct page_options *o, unsigned page)
{
    struct grid grid = cut(scene, o);
    paint_sheet(cr, scene, o, &grid, page % grid.across, page / grid.across);
}

static void set_metadata(cairo_surface_t *surface, const struct page_options *o)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t when = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : o->date;
    struct tm tm;
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&when, &tm));
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, date);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_MOD_DATE, date);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Poet");
    if (o->title)
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, o->title);
}

static cairo_status_t write_vector(const struct scene *scene, const struct page_options *o,
                                   struct sink *sink)
{
    struct grid grid = cut(scene, o);
    bool paper = o->paper_width_pt > 0;
    double scale = o->width_pt > 0 ? o->width_pt / scene->width_pt : 1;
    double width = paper ? o->paper_width_pt : scene->width_pt * scale;
    double height = paper ? o->paper_height_pt : scene->height_pt * scale;
    cairo_surface_t *surface =
        o->format == PAGE_PDF ? cairo_pdf_surface_create_for_stream(take, sink, width, height)
                              : cairo_svg_surface_create_for_stream(take, sink, width, height);
    if (o->format == PAGE_PDF)
        set_metadata(surface, o);
    else
        cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
    cairo_t *cr = cairo_create(surface);
    if (o->theme.dark)
        paint_background(cr, &o->theme);
    for (unsigned y = 0; paper && y < grid.down; y++)
        for (unsigned x = 0; x < grid.across; x++) {
            paint_sheet(cr, scene, o, &grid, x, y);
            cairo_show_page(cr);
        }
    if (!paper) {
        cairo_scale(cr, scale, scale);
        paint_whole(cr, scene, o);
        cairo_show_page(cr);
    }
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

static cairo_status_t write_image(const struct scene *scene, const struct page_options *o,
                                  struct sink *sink)
{
    double scale = o->width_pt > 0 ? o->width_pt / scene->width_pt * PNG_SCALE : PNG_SCALE;
    double width = ceil(scene->width_pt * scale), height = ceil(scene->height_pt * scale);
    if (width > 30000 || height > 30000)
        return CAIRO_STATUS_INVALID_SIZE;
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    cairo_t *cr = cairo_create(surface);
    paint_background(cr, &o->theme);
    cairo_scale(cr, scale, scale);
    paint_whole(cr, scene, o);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, take, sink);
    cairo_surface_destroy(surface);
    return status;
}

const char *page_write(const struct scene *scene, const struct page_options *o, const char *path)
{
    char *part;
    if (asprintf(&part, "%s.part", path) < 0)
        return "out of memory";
    struct sink sink = {.f = fopen(part, "wbe")};
    if (!sink.f) {
        free(part);
        return strerror(errno);
    }
    cairo_status_t status =
        o->format == PAGE_PNG ? write_image(scene, o, &sink) : write_vector(scene, o, &sink);
    const char *why = NULL;
    if (fclose(sink.f) != 0)
        why = strerror(errno);
    if (status != CAIRO_STATUS_SUCCESS)
        why = sink.error ? strerror(sink.error)
              : status == CAIRO_STATUS_INVALID_SIZE
                  ? "the picture is too large for an image: write PDF or SVG, or choose a range"
                  : cairo_status_to_string(status);
    if (!why && rename(part, path) < 0)
        why = strerror(errno);
    if (why)
        unlink(part);
    free(part);
    return why;
}

#define _GNU_SOURCE
#include "render/document.h"

#include "base/alloc.h"
#include "render/paper_bands.h"
#include "render/svg_text.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARGIN_PT 28.0
#define PNG_SCALE 2.0 /* smaller if the image would exceed IMAGE_LIMIT_PX, but at least 1 */
#define IMAGE_LIMIT_PX 30000.0

struct document_sink {
    FILE *f;
    int error;
};

static cairo_status_t document_write_bytes(void *context, const unsigned char *data,
                                           unsigned length)
{
    struct document_sink *sink = context;
    if (fwrite(data, 1, length, sink->f) == length)
        return CAIRO_STATUS_SUCCESS;
    sink->error = errno;
    return CAIRO_STATUS_WRITE_ERROR;
}

unsigned document_count(const struct scene *scene, const struct document_options *options)
{
    struct paper_bands bands = paper_bands_cut(scene, options);
    return paper_bands_pages(scene, &bands);
}

static void paint_footer(cairo_t *cr, const struct document_options *o, unsigned number,
                         unsigned count)
{
    char footer[64];
    if (count)
        snprintf(footer, sizeof footer, "%u / %u", number, count);
    else
        snprintf(footer, sizeof footer, "%u", number);
    cairo_set_source_rgb(cr, 0.3, 0.3, 0.3);
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, 8);
    cairo_move_to(cr, o->paper_width_pt - MARGIN_PT - 40, o->paper_height_pt - MARGIN_PT / 2);
    cairo_show_text(cr, footer);
}

void document_paint(cairo_t *cr, const struct scene *scene, const struct document_options *o,
                    unsigned page)
{
    struct paper_bands bands = paper_bands_cut(scene, o);
    unsigned count = paper_bands_pages(scene, &bands), across = count / bands.down;
    uint32_t i = 0;
    for (unsigned x = 0; x < page % across; x++)
        i += paper_bands_page(scene, &bands, i, x == 0);
    paper_bands_paint(cr, scene, o, &bands, i, page / across, NULL);
    paint_footer(cr, o, page + 1, count);
}

/* Sets the metadata of a PDF: its date, or $SOURCE_DATE_EPOCH, and its title. */
static void document_set_metadata(cairo_surface_t *surface, const struct document_options *o)
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

static cairo_surface_t *new_surface(const struct document_options *o, struct document_sink *sink,
                                    double width, double height)
{
    cairo_surface_t *surface =
        o->format == DOCUMENT_PDF
            ? cairo_pdf_surface_create_for_stream(document_write_bytes, sink, width, height)
            : cairo_svg_surface_create_for_stream(document_write_bytes, sink, width, height);
    if (o->format == DOCUMENT_PDF)
        document_set_metadata(surface, o);
    else
        cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
    return surface;
}

static cairo_status_t document_finish_surface(cairo_t *cr, cairo_surface_t *surface)
{
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

/* Painting the background spares Cairo from computing the extents of everything drawn, which is
 * slow. */
static void write_paper(cairo_t *cr, const struct scene *scene, const struct document_options *o,
                        const struct paper_bands *bands)
{
    unsigned count = paper_bands_pages(scene, bands), across = count / bands->down, number = 0;
    for (unsigned y = 0; y < bands->down; y++) {
        uint32_t i = 0;
        for (unsigned x = 0; x < across; x++) {
            painter_fill_background(cr, &o->theme);
            paper_bands_paint(cr, scene, o, bands, i, y, NULL);
            paint_footer(cr, o, ++number, count);
            cairo_show_page(cr);
            i += paper_bands_page(scene, bands, i, i == 0);
        }
    }
}

static void paint_whole(cairo_t *cr, const struct scene *scene, const struct document_options *o,
                        const struct paper_bands *bands, struct svg *svg)
{
    bool ground = o->format == DOCUMENT_PDF ? o->theme.dark : !o->transparent;
    if (ground)
        painter_fill_background(cr, &o->theme);
    paper_bands_paint(cr, scene, o, bands, 0, 0, svg);
}

static cairo_status_t write_vector(const struct scene *scene, const struct document_options *o,
                                   struct document_sink *sink, struct svg *svg)
{
    struct paper_bands bands = paper_bands_cut(scene, o);
    cairo_surface_t *surface = new_surface(o, sink, bands.width_pt, bands.height_pt);
    cairo_t *cr = cairo_create(surface);
    if (bands.paper && !svg) {
        write_paper(cr, scene, o, &bands);
    } else {
        paint_whole(cr, scene, o, &bands, svg);
        if (!svg)
            cairo_show_page(cr);
    }
    return document_finish_surface(cr, surface);
}

bool document_is_too_large(const struct scene *scene, const struct document_options *o)
{
    struct paper_bands bands = paper_bands_cut(scene, o);
    double most = o->format == DOCUMENT_PDF   ? PAGE_LIMIT_PT
                  : o->format == DOCUMENT_PNG ? IMAGE_LIMIT_PX
                                              : HUGE_VAL;
    return !bands.paper && (bands.width_pt > most || bands.height_pt > most);
}

static cairo_status_t document_finish_image(cairo_t *cr, cairo_surface_t *surface,
                                            struct document_sink *sink)
{
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, document_write_bytes, sink);
    cairo_surface_destroy(surface);
    return status;
}

static cairo_status_t write_image(const struct scene *scene, const struct document_options *o,
                                  struct document_sink *sink)
{
    struct paper_bands bands = paper_bands_cut(scene, o);
    double most = fmax(bands.width_pt, bands.height_pt),
           scale = fmax(1, fmin(PNG_SCALE, IMAGE_LIMIT_PX / most));
    double width = ceil(bands.width_pt * scale), height = ceil(bands.height_pt * scale);
    if (document_is_too_large(scene, o))
        return CAIRO_STATUS_INVALID_SIZE;
    cairo_surface_t *surface = cairo_image_surface_create(
        o->transparent ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24, (int)width, (int)height);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    paint_whole(cr, scene, o, &bands, NULL);
    return document_finish_image(cr, surface, sink);
}

/* ---- what is written: a scene or a drawing ---- */

/* Writes it to a sink; svg: collects its texts, NULL: not an SVG. */
typedef cairo_status_t document_writer(const void *what, const struct document_options *o,
                                       struct document_sink *sink, struct svg *svg);

static cairo_status_t write_scene(const void *what, const struct document_options *o,
                                  struct document_sink *sink, struct svg *svg)
{
    return o->format == DOCUMENT_PNG ? write_image(what, o, sink)
                                     : write_vector(what, o, sink, svg);
}

static void draw_page(const struct drawing *d, const struct document_options *o, cairo_t *cr,
                      double scale, unsigned page)
{
    if (d->turn)
        d->turn(d->context, page);
    cairo_save(cr);
    painter_fill_background(cr, &o->theme);
    cairo_scale(cr, scale, scale);
    d->paint(d->context, cr);
    cairo_restore(cr);
    cairo_show_page(cr);
}

static cairo_status_t write_drawing(const void *what, const struct document_options *o,
                                    struct document_sink *sink, struct svg *svg)
{
    const struct drawing *d = what;
    bool image = o->format == DOCUMENT_PNG;
    double scale = (o->width_pt > 0 ? o->width_pt / d->width_pt : 1) * (image ? PNG_SCALE : 1);
    double width = d->width_pt * scale, height = d->height_pt * scale;
    cairo_surface_t *surface =
        image ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width), (int)ceil(height))
              : new_surface(o, sink, width, height);
    cairo_t *cr = cairo_create(surface);
    unsigned pages = d->pages && o->format == DOCUMENT_PDF ? d->pages : 1;
    for (unsigned page = 0; page < pages; page++)
        draw_page(d, o, cr, scale, page);
    (void)svg;
    return image ? document_finish_image(cr, surface, sink) : document_finish_surface(cr, surface);
}

/* Writes an SVG with words as text, not as outlines. */
static cairo_status_t write_svg(document_writer *write, const void *what,
                                const struct document_options *o, struct document_sink *sink)
{
    struct document_sink drawn = {0};
    char *document = NULL;
    size_t size = 0;
    drawn.f = xcheck(open_memstream(&document, &size), sizeof drawn);
    struct svg *svg = svg_open();
    cairo_status_t status = write(what, o, &drawn, svg);
    svg_close(svg);
    fclose(drawn.f);
    if (status == CAIRO_STATUS_SUCCESS)
        svg_write(svg, document, size, sink->f);
    if (ferror(sink->f))
        sink->error = errno, status = CAIRO_STATUS_WRITE_ERROR;
    svg_free(svg);
    free(document);
    return status;
}

/* ---- files, renamed when complete ---- */

struct document_file {
    struct document_sink sink;
    struct document_options options;
    char *path, *part;
    cairo_surface_t *surface;
    cairo_t *cr;
    unsigned pages;
};

static bool begin_file(struct document_file *f, const struct document_options *o, const char *path,
                       const char **why)
{
    *f = (struct document_file){
        .options = *o, .path = xstrdup(path), .part = xasprintf("%s.part", path)};
    f->sink.f = fopen(f->part, "wbe");
    if (!f->sink.f)
        *why = strerror(errno);
    return f->sink.f != NULL;
}

/* Returns an error of Cairo as a message for users. */
static const char *document_error(cairo_status_t status)
{
    return status == CAIRO_STATUS_INVALID_SIZE
               ? "the diagram is too large for an image; write PDF or SVG, or select a range"
               : cairo_status_to_string(status);
}

static bool end_file(struct document_file *f, cairo_status_t status, const char **why)
{
    const char *error = NULL;
    if (fclose(f->sink.f) != 0)
        error = strerror(errno);
    if (status != CAIRO_STATUS_SUCCESS)
        error = f->sink.error ? strerror(f->sink.error) : document_error(status);
    if (!error && rename(f->part, f->path) < 0)
        error = strerror(errno);
    if (!error)
        return true;
    unlink(f->part);
    *why = error;
    return false;
}

static void free_file(struct document_file *f)
{
    free(f->path);
    free(f->part);
}

static bool document_write_file(document_writer *write, const void *what,
                                const struct document_options *o, const char *path,
                                const char **why)
{
    struct document_file f;
    bool written = begin_file(&f, o, path, why) &&
                   end_file(&f,
                            o->format == DOCUMENT_SVG ? write_svg(write, what, o, &f.sink)
                                                      : write(what, o, &f.sink, NULL),
                            why);
    free_file(&f);
    return written;
}

bool document_write(const struct scene *scene, const struct document_options *o, const char *path,
                    const char **why)
{
    return document_write_file(write_scene, scene, o, path, why);
}

bool document_write_drawing(const struct drawing *d, const struct document_options *o,
                            const char *path, const char **why)
{
    return document_write_file(write_drawing, d, o, path, why);
}

/* ---- page by page ---- */

struct document_file *document_open(const struct document_options *o, const char *path,
                                    const char **why)
{
    struct document_file *f = xmalloc(sizeof *f);
    if (!begin_file(f, o, path, why)) {
        free_file(f);
        free(f);
        return NULL;
    }
    f->surface = new_surface(o, &f->sink, o->paper_width_pt, o->paper_height_pt);
    f->cr = cairo_create(f->surface);
    return f;
}

uint32_t document_accepts_page(const struct document_file *f, const struct scene *scene, bool last)
{
    struct paper_bands bands = paper_bands_cut(scene, &f->options);
    uint32_t i = 0;
    do {
        uint32_t n = paper_bands_page(scene, &bands, i, i == 0);
        if (!last && i && i + n >= scene->column_count)
            break; /* its last band may still grow */
        i += n;
    } while (i < scene->column_count);
    return i;
}

void document_add(struct document_file *f, const struct scene *scene, uint32_t columns)
{
    struct paper_bands bands = paper_bands_cut(scene, &f->options);
    uint32_t i = 0;
    do {
        for (unsigned y = 0; y < bands.down; y++) {
            painter_fill_background(f->cr, &f->options.theme); /* see write_paper() */
            paper_bands_paint(f->cr, scene, &f->options, &bands, i, y, NULL);
            paint_footer(f->cr, &f->options, ++f->pages, 0);
            cairo_show_page(f->cr);
        }
        i += paper_bands_page(scene, &bands, i, i == 0);
    } while (i < columns);
}

void document_abandon(struct document_file *f)
{
    document_finish_surface(f->cr, f->surface);
    fclose(f->sink.f);
    unlink(f->part);
    free_file(f);
    free(f);
}

bool document_close(struct document_file *f, const char **why)
{
    bool written = end_file(f, document_finish_surface(f->cr, f->surface), why);
    free_file(f);
    free(f);
    return written;
}

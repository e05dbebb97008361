#define _GNU_SOURCE
#include "render/drawing_file.h"

#include "base/alloc.h"
#include "render/scene_paint.h"
#include "render/svg_text.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGE_SCALE 2.0 /* pixels per point of a PNG */

static cairo_surface_t *new_surface(const struct document_options *o, const char *path,
                                    double width, double height)
{
    cairo_surface_t *surface;
    if (o->format == DOCUMENT_PNG)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width * IMAGE_SCALE),
                                          (int)ceil(height * IMAGE_SCALE));
    surface = cairo_pdf_surface_create(path, width, height);
    document_set_metadata(surface, o);
    return surface;
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

static cairo_status_t drawing_file_draw_pages(const struct drawing *d,
                                              const struct document_options *o, const char *path)
{
    double scale = o->width_pt > 0 ? o->width_pt / d->width_pt : 1;
    cairo_surface_t *surface = new_surface(o, path, d->width_pt * scale, d->height_pt * scale);
    cairo_t *cr = cairo_create(surface);
    unsigned pages = d->pages && o->format == DOCUMENT_PDF ? d->pages : 1;
    if (o->format == DOCUMENT_PNG)
        scale *= IMAGE_SCALE;
    for (unsigned page = 0; page < pages; page++)
        draw_page(d, o, cr, scale, page);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS && o->format == DOCUMENT_PNG)
        status = cairo_surface_write_to_png(surface, path);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

static cairo_status_t drawing_file_write_bytes(void *to, const unsigned char *bytes, unsigned size)
{
    return fwrite(bytes, 1, size, to) == size ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Draws the document without its texts, which `svg` collects. */
static cairo_status_t draw_document(const struct drawing *d, const struct document_options *o,
                                    struct svg *svg, FILE *document)
{
    double scale = o->width_pt > 0 ? o->width_pt / d->width_pt : 1;
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(
        drawing_file_write_bytes, document, d->width_pt * scale, d->height_pt * scale);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
    cairo_t *cr = cairo_create(surface);
    draw_page(d, o, cr, scale, 0);
    svg_close(svg);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

/* Writes an SVG file whose words are text, not outlines, as in document.c. */
static cairo_status_t draw_svg(const struct drawing *d, const struct document_options *o,
                               const char *path)
{
    char *document = NULL;
    size_t size = 0;
    FILE *drawn = open_memstream(&document, &size), *f = fopen(path, "we");
    cairo_status_t status = drawn && f ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
    struct svg *svg = status == CAIRO_STATUS_SUCCESS ? svg_open() : NULL;
    if (svg)
        status = draw_document(d, o, svg, drawn);
    if (drawn)
        fclose(drawn);
    if (svg && status == CAIRO_STATUS_SUCCESS)
        svg_write(svg, document, size, f);
    if (f && ferror(f) | (fclose(f) != 0))
        status = CAIRO_STATUS_WRITE_ERROR;
    svg_free(svg);
    free(document);
    return status;
}

const char *drawing_file_write(const struct drawing *d, const struct document_options *o,
                               const char *path)
{
    char *part = xasprintf("%s.part", path);
    cairo_status_t status =
        o->format == DOCUMENT_SVG ? draw_svg(d, o, part) : drawing_file_draw_pages(d, o, part);
    const char *why = status == CAIRO_STATUS_SUCCESS ? NULL : document_error(status);
    if (!why && rename(part, path) < 0)
        why = strerror(errno);
    if (why)
        unlink(part);
    free(part);
    return why;
}

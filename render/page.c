#define _GNU_SOURCE
#include "render/page.h"

#include "memory/memory.h"

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

/* The paper along the lines, and across them. */
static double along(const struct scene *scene, const struct page_options *o)
{
    return scene->vertical ? o->paper_height_pt : o->paper_width_pt;
}

static double across(const struct scene *scene, const struct page_options *o)
{
    return scene->vertical ? o->paper_width_pt : o->paper_height_pt;
}

static double screen_width(const struct scene *scene)
{
    return scene->vertical ? scene->height_pt : scene->width_pt;
}
static double screen_height(const struct scene *scene)
{
    return scene->vertical ? scene->width_pt : scene->height_pt;
}

/* Rows are cut evenly; columns where one ends, so that no mark is cut. */
static struct grid cut(const struct scene *scene, const struct page_options *o)
{
    struct grid grid = {1, 1, scene->width_pt - scene->names_pt, scene->row_count, 1};
    if (o->paper_width_pt <= 0)
        return grid;
    double width = along(scene, o) - 2 * MARGIN_PT, height = across(scene, o) - 2 * MARGIN_PT;
    double notes = scene->height_pt - (scene->bottom_pt - scene->top_pt) + 14;
    if (o->shrink > 0 && scene->row_count)
        grid.scale = fmax(o->shrink, fmin(1, height / (scene->row_count * scene->row_pt + notes)));
    if (scene->names_pt * grid.scale > width * 0.6)
        grid.scale = width * 0.6 / scene->names_pt;
    grid.columns_pt = width / grid.scale - scene->names_pt;
    double rows = floor((height / grid.scale - notes) / scene->row_pt);
    grid.rows = rows < 1 ? 1 : (uint32_t)rows;
    grid.down = (scene->row_count + grid.rows - 1) / grid.rows;
    grid.down = grid.down ? grid.down : 1;
    return grid;
}

/* Columns from the i-th on that fit one page; at least one. */
static uint32_t columns_on(const struct scene *scene, const struct grid *grid, uint32_t i)
{
    const struct scene_column *c = &scene->columns[i];
    double left = c->x_pt - c->left_pt;
    uint32_t n = 1;
    while (i + n < scene->column_count &&
           scene->columns[i + n].x_pt + scene->columns[i + n].right_pt - left <= grid->columns_pt)
        n++;
    return n;
}

unsigned page_count(const struct scene *scene, const struct page_options *options)
{
    struct grid grid = cut(scene, options);
    unsigned across = 0;
    if (options->paper_width_pt <= 0)
        return 1;
    for (uint32_t i = 0; i < scene->column_count; i += columns_on(scene, &grid, i))
        across++;
    return (across ? across : 1) * grid.down;
}

static void paint_whole(cairo_t *cr, const struct scene *scene, const struct page_options *o)
{
    struct paint_part part = {scene->names_pt, scene->width_pt, 0, scene->row_count, true};
    struct paint_theme theme = o->theme;
    theme.names = true;
    if (scene->vertical)
        paint_turn(cr);
    paint_scene(cr, scene, &theme, &part, &o->selection);
}

static void paint_footer(cairo_t *cr, const struct page_options *o, unsigned number, unsigned count)
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

/* One sheet: its rows moved up, its columns, from the i-th on, moved to the names. */
static void paint_sheet(cairo_t *cr, const struct scene *scene, const struct page_options *o,
                        const struct grid *grid, uint32_t i, unsigned y)
{
    struct paint_theme theme = o->theme;
    double from = scene->names_pt, to = scene->width_pt;
    if (i < scene->column_count) {
        uint32_t end = i + columns_on(scene, grid, i);
        from = i ? scene->columns[i].x_pt - scene->columns[i].left_pt : from;
        to =
            end < scene->column_count ? scene->columns[end].x_pt - scene->columns[end].left_pt : to;
    }
    struct paint_part part = {from, fmin(to, from + grid->columns_pt), y * grid->rows,
                              (y + 1) * grid->rows, false};
    if (part.last_row > scene->row_count)
        part.last_row = scene->row_count;
    double up = part.first_row * scene->row_pt;
    cairo_save(cr);
    cairo_translate(cr, MARGIN_PT, MARGIN_PT);
    cairo_scale(cr, grid->scale, grid->scale);
    if (scene->vertical)
        paint_turn(cr);
    cairo_save(cr);
    cairo_translate(cr, 0, -up);
    theme.names = true;
    struct paint_part names = part;
    names.to_pt = names.from_pt;
    paint_scene(cr, scene, &theme, &names, &o->selection);
    theme.names = false;
    cairo_translate(cr, -(from - scene->names_pt), 0);
    paint_scene(cr, scene, &theme, &part, &o->selection);
    cairo_restore(cr);
    struct paint_part notes = {0, 0, 0, 0, true};
    paint_scene(cr, scene, &theme, &notes, &o->selection);
    cairo_restore(cr);
}

void page_paint(cairo_t *cr, const struct scene *scene, const struct page_options *o, unsigned page)
{
    struct grid grid = cut(scene, o);
    unsigned across = page_count(scene, o) / grid.down;
    uint32_t i = 0;
    for (unsigned x = 0; x < page % across; x++)
        i += columns_on(scene, &grid, i);
    paint_sheet(cr, scene, o, &grid, i, page / across);
    paint_footer(cr, o, page + 1, across * grid.down);
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

static cairo_surface_t *new_surface(const struct page_options *o, struct sink *sink, double width,
                                    double height)
{
    cairo_surface_t *surface = o->format == PAGE_PDF
                                   ? cairo_pdf_surface_create_for_stream(take, sink, width, height)
                                   : cairo_svg_surface_create_for_stream(take, sink, width, height);
    if (o->format == PAGE_PDF)
        set_metadata(surface, o);
    else
        cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
    return surface;
}

static cairo_status_t finish(cairo_t *cr, cairo_surface_t *surface)
{
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

static cairo_status_t write_vector(const struct scene *scene, const struct page_options *o,
                                   struct sink *sink)
{
    struct grid grid = cut(scene, o);
    bool paper = o->paper_width_pt > 0;
    double scale = o->width_pt > 0 ? o->width_pt / screen_width(scene) : 1;
    cairo_surface_t *surface =
        new_surface(o, sink, paper ? o->paper_width_pt : screen_width(scene) * scale,
                    paper ? o->paper_height_pt : screen_height(scene) * scale);
    cairo_t *cr = cairo_create(surface);
    unsigned count = page_count(scene, o), across = count / grid.down, number = 0;
    for (unsigned y = 0; paper && y < grid.down; y++)
        for (unsigned x = 0, i = 0; x < across; x++) {
            paint_background(cr, &o->theme); /* (then Cairo need not add up what is drawn) */
            paint_sheet(cr, scene, o, &grid, i, y);
            paint_footer(cr, o, ++number, count);
            cairo_show_page(cr);
            i += i < scene->column_count ? columns_on(scene, &grid, i) : 0;
        }
    if (!paper) {
        if (o->theme.dark)
            paint_background(cr, &o->theme);
        cairo_scale(cr, scale, scale);
        paint_whole(cr, scene, o);
        cairo_show_page(cr);
    }
    return finish(cr, surface);
}

static cairo_status_t write_image(const struct scene *scene, const struct page_options *o,
                                  struct sink *sink)
{
    double scale = o->width_pt > 0 ? o->width_pt / screen_width(scene) * PNG_SCALE : PNG_SCALE;
    double width = ceil(screen_width(scene) * scale), height = ceil(screen_height(scene) * scale);
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

/* ---- files: under another name first ---- */

struct page_file {
    struct sink sink;
    struct page_options options;
    char *path, *part;
    cairo_surface_t *surface;
    cairo_t *cr;
    unsigned pages;
};

static const char *begin_file(struct page_file *f, const struct page_options *o, const char *path)
{
    *f = (struct page_file){
        .options = *o, .path = memory_copied(path), .part = memory_printed("%s.part", path)};
    f->sink.f = fopen(f->part, "wbe");
    return f->sink.f ? NULL : strerror(errno);
}

static const char *end_file(struct page_file *f, cairo_status_t status)
{
    const char *why = NULL;
    if (fclose(f->sink.f) != 0)
        why = strerror(errno);
    if (status != CAIRO_STATUS_SUCCESS)
        why = f->sink.error ? strerror(f->sink.error)
              : status == CAIRO_STATUS_INVALID_SIZE
                  ? "the picture is too large for an image: write PDF or SVG, or choose a range"
                  : cairo_status_to_string(status);
    if (!why && rename(f->part, f->path) < 0)
        why = strerror(errno);
    if (why)
        unlink(f->part);
    return why;
}

static void free_file(struct page_file *f)
{
    free(f->path);
    free(f->part);
}

const char *page_write(const struct scene *scene, const struct page_options *o, const char *path)
{
    struct page_file f;
    const char *why = begin_file(&f, o, path);
    if (!why)
        why = end_file(&f, o->format == PAGE_PNG ? write_image(scene, o, &f.sink)
                                                 : write_vector(scene, o, &f.sink));
    free_file(&f);
    return why;
}

/* ---- page by page ---- */

struct page_file *page_open(const struct page_options *o, const char *path, const char **why)
{
    struct page_file *f = memory_bytes(sizeof *f);
    *why = begin_file(f, o, path);
    if (*why) {
        free_file(f);
        free(f);
        return NULL;
    }
    f->surface = new_surface(o, &f->sink, o->paper_width_pt, o->paper_height_pt);
    f->cr = cairo_create(f->surface);
    return f;
}

uint32_t page_add(struct page_file *f, const struct scene *scene, bool last)
{
    struct grid grid = cut(scene, &f->options);
    uint32_t i = 0;
    do {
        uint32_t n = i < scene->column_count ? columns_on(scene, &grid, i) : 0;
        if (!last && i && i + n >= scene->column_count)
            break; /* more may fit on it */
        for (unsigned y = 0; y < grid.down; y++) {
            paint_background(f->cr, &f->options.theme); /* (as in write_vector) */
            paint_sheet(f->cr, scene, &f->options, &grid, i, y);
            paint_footer(f->cr, &f->options, ++f->pages, 0);
            cairo_show_page(f->cr);
        }
        i += n;
    } while (i < scene->column_count);
    return i;
}

void page_abandon(struct page_file *f)
{
    finish(f->cr, f->surface);
    fclose(f->sink.f);
    unlink(f->part);
    free_file(f);
    free(f);
}

const char *page_close(struct page_file *f)
{
    const char *why = end_file(f, finish(f->cr, f->surface));
    free_file(f);
    free(f);
    return why;
}

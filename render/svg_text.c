#define _GNU_SOURCE
#include "render/svg_text.h"

#include "base/alloc.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct svg {
    struct svg_text {
        double x, y, size, width; /* y: of the baseline; all in page coordinates */
        double red, green, blue;
        bool bold, code;
        char *text;
    } *texts;
    uint32_t text_count;
    struct svg_mark {
        double x, y, radius;
        char *words;
    } *marks;
    uint32_t mark_count;
};

/* Returns the scale of user space to the page. */
static double scale_of(cairo_t *cr)
{
    cairo_matrix_t m;
    cairo_get_matrix(cr, &m);
    return sqrt(fabs(m.xx * m.yy - m.xy * m.yx));
}

/* Is a box with one corner at x, y entirely outside of the clip? */
static bool is_clipped(cairo_t *cr, double x, double y, double width, double height)
{
    double x0, y0, x1, y1;
    cairo_clip_extents(cr, &x0, &y0, &x1, &y1);
    return x > x1 || y > y1 || x + width < x0 || y + height < y0;
}

static void svg_text_keep_text(void *context, cairo_t *cr, const struct text_cache_entry *l)
{
    struct svg *svg = context;
    double scale = scale_of(cr);
    if (!*l->text || is_clipped(cr, l->x, l->y, l->width, l->baseline * 1.3))
        return;
    struct svg_text t = {.x = l->x,
                         .y = l->y + l->baseline,
                         .size = l->size_pt * scale,
                         .width = l->width * scale,
                         .bold = l->bold,
                         .code = l->code,
                         .text = xstrdup(l->text)};
    cairo_user_to_device(cr, &t.x, &t.y);
    cairo_pattern_get_rgba(cairo_get_source(cr), &t.red, &t.green, &t.blue, &(double){0});
    ARRAY_PUSH(svg->texts, svg->text_count, t);
}

struct svg *svg_open(void)
{
    struct svg *svg = xcalloc(1, sizeof *svg);
    text_cache_divert(svg_text_keep_text, svg);
    return svg;
}

void svg_close(struct svg *svg)
{
    (void)svg;
    text_cache_divert(NULL, NULL);
}

void svg_marks(struct svg *svg, cairo_t *cr, const struct scene *scene,
               const struct paint_part *part,
               char *(*words)(void *context, const struct scene_mark *mark), void *context)
{
    double radius = (SCENE_MARK_PT / 2 + 2) * scale_of(cr);
    for (uint32_t i = 0; i < scene->mark_count; i++) {
        const struct scene_mark *mark = &scene->marks[i];
        if (mark->x_pt < part->from_pt || mark->x_pt > part->to_pt || mark->row < part->first_row ||
            mark->row >= part->last_row || is_clipped(cr, mark->x_pt, mark->y_pt, 0, 0))
            continue;
        struct svg_mark m = {mark->x_pt, mark->y_pt, radius, words(context, mark)};
        cairo_user_to_device(cr, &m.x, &m.y);
        if (m.words)
            ARRAY_PUSH(svg->marks, svg->mark_count, m);
    }
}

static void write_text(FILE *f, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&' || c == '"')
            fprintf(f, "&#%u;", c);
        else
            fputc(c < ' ' ? ' ' : c, f);
    }
}

/* Writes a text as Pango would draw it: invalid UTF-8 is replaced. */
static void write_words(FILE *f, const char *text)
{
    char *valid = text_cache_valid(text);
    write_text(f, valid);
    free(valid);
}

static void write_texts(const struct svg *svg, FILE *f)
{
    fputs(
        "<g font-family=\"'DejaVu Sans', 'Bitstream Vera Sans', Verdana, 'Noto Sans', sans-serif\""
        " xml:space=\"preserve\">\n",
        f);
    for (uint32_t i = 0; i < svg->text_count; i++) {
        const struct svg_text *t = &svg->texts[i];
        fprintf(f, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.2f\" textLength=\"%.2f\"", t->x, t->y,
                t->size, t->width);
        fputs(" lengthAdjust=\"spacingAndGlyphs\"", f);
        if (t->bold)
            fputs(" font-weight=\"bold\"", f);
        if (t->code)
            fputs(" font-family=\"'DejaVu Sans Mono', monospace\"", f);
        if (t->red + t->green + t->blue > 0)
            fprintf(f, " fill=\"#%02lx%02lx%02lx\"", lround(t->red * 255), lround(t->green * 255),
                    lround(t->blue * 255));
        fputc('>', f);
        write_words(f, t->text);
        fputs("</text>\n", f);
    }
    fputs("</g>\n", f);
}

static void write_marks(const struct svg *svg, FILE *f)
{
    fputs("<g fill-opacity=\"0\">\n", f);
    for (uint32_t i = 0; i < svg->mark_count; i++) {
        const struct svg_mark *m = &svg->marks[i];
        fprintf(f, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"><title>", m->x, m->y, m->radius);
        write_words(f, m->words);
        fputs("</title></circle>\n", f);
    }
    fputs("</g>\n", f);
}

void svg_write(const struct svg *svg, const char *document, size_t size, FILE *f)
{
    static const char end[] = "</svg>";
    const char *last = NULL;
    for (const char *at = document;
         (at = memmem(at, size - (size_t)(at - document), end, sizeof end - 1)) != NULL; at++)
        last = at;
    if (!last) {
        fwrite(document, 1, size, f);
        return;
    }
    fwrite(document, 1, (size_t)(last - document), f);
    if (svg->text_count)
        write_texts(svg, f);
    if (svg->mark_count)
        write_marks(svg, f);
    fputs("</svg>\n", f);
}

void svg_free(struct svg *svg)
{
    for (uint32_t i = 0; i < svg->text_count; i++)
        free(svg->texts[i].text);
    for (uint32_t i = 0; i < svg->mark_count; i++)
        free(svg->marks[i].words);
    free(svg->texts);
    free(svg->marks);
    free(svg);
}

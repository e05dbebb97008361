#include "render/text_cache.h"

#include "base/alloc.h"

#include <pango/pangocairo.h>
#include <stdint.h>
#include <string.h>

#define FONT "DejaVu Sans"
#define CODE_FONT "DejaVu Sans Mono"
#define KEPT_MAX 4096u

struct text_cache_layout {
    PangoLayout *layout;
    double size;
    bool bold, code;
    char *text;
};

static GHashTable *kept; /* a set of struct text_cache_layout */
static PangoContext *context_of_all;
static bool as_code;

static guint laid_hash(gconstpointer p)
{
    const struct text_cache_layout *laid = p;
    return g_str_hash(laid->text) ^ (guint)(laid->size * 64) ^ (laid->bold ? 0x80000000u : 0) ^
           (laid->code ? 0x40000000u : 0);
}

static gboolean laid_equal(gconstpointer a, gconstpointer b)
{
    const struct text_cache_layout *x = a, *y = b;
    return x->size == y->size && x->bold == y->bold && x->code == y->code &&
           strcmp(x->text, y->text) == 0;
}

static void laid_free(gpointer p)
{
    struct text_cache_layout *laid = p;
    g_object_unref(laid->layout);
    g_free(laid->text);
    g_free(laid);
}

/* Returns a context without hinting, so that texts have the same width at every scale and on every
 * surface. */
static PangoContext *new_context(void)
{
    PangoContext *context = pango_font_map_create_context(pango_cairo_font_map_get_default());
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    pango_cairo_context_set_resolution(context, 72);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    return context;
}

static PangoLayout *lay_out(const char *text, double size, bool bold)
{
    PangoLayout *layout = pango_layout_new(context_of_all);
    PangoFontDescription *font = pango_font_description_from_string(as_code ? CODE_FONT : FONT);
    pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
    if (bold)
        pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_text(layout, text, -1);
    return layout;
}

static PangoLayout *layout_of(const char *text, double size, bool bold)
{
    if (!kept) {
        kept = g_hash_table_new_full(laid_hash, laid_equal, laid_free, NULL);
        context_of_all = new_context();
    }
    struct text_cache_layout wanted = {
        .size = size, .bold = bold, .code = as_code, .text = (char *)(uintptr_t)text};
    struct text_cache_layout *laid = g_hash_table_lookup(kept, &wanted);
    if (laid)
        return laid->layout;
    if (g_hash_table_size(kept) >= KEPT_MAX)
        g_hash_table_remove_all(kept);
    laid = g_new(struct text_cache_layout, 1);
    *laid =
        (struct text_cache_layout){lay_out(text, size, bold), size, bold, as_code, g_strdup(text)};
    g_hash_table_add(kept, laid);
    return laid->layout;
}

void text_cache_code(bool code) { as_code = code; }

double text_cache_width(void *context, const char *text, double size_pt, bool bold)
{
    (void)context;
    int width, height;
    pango_layout_get_size(layout_of(text, size_pt, bold), &width, &height);
    return (double)width / PANGO_SCALE;
}

static void (*diverted)(void *context, cairo_t *cr, const struct text_cache_entry *text);
static void *diverted_to;

void text_cache_divert(void (*take)(void *context, cairo_t *cr,
                                    const struct text_cache_entry *text),
                       void *context)
{
    diverted = take;
    diverted_to = context;
}

static void text_cache_divert_text(cairo_t *cr, double x, double y, const char *text,
                                   double size_pt, bool bold)
{
    struct text_cache_entry l = {x,       y,    0,    text_cache_width(NULL, text, size_pt, bold),
                                 size_pt, text, bold, as_code};
    l.baseline = (double)pango_layout_get_baseline(layout_of(text, size_pt, bold)) / PANGO_SCALE;
    diverted(diverted_to, cr, &l);
}

char *text_cache_valid(const char *text)
{
    char *made = g_utf8_make_valid(text, -1), *valid = xstrdup(made);
    g_free(made);
    for (unsigned char *c = (unsigned char *)valid; *c; c++)
        if (*c < ' ')
            *c = ' ';
    return valid;
}

void text_cache_show(cairo_t *cr, double x, double y, const char *text, double size_pt, bool bold)
{
    if (diverted) {
        text_cache_divert_text(cr, x, y, text, size_pt, bold);
        return;
    }
    cairo_move_to(cr, x, y);
    pango_cairo_show_layout(cr, layout_of(text, size_pt, bold));
}

size_t text_cache_line(const char *text, double width, double size)
{
    size_t n = strlen(text), fits = 0;
    for (size_t i = 0; i <= n; i++) {
        if (text[i] && text[i] != ' ')
            continue;
        char *part = xstrndup(text, i);
        bool wide = text_cache_width(NULL, part, size, false) > width;
        free(part);
        if (wide && fits)
            return fits;
        fits = i;
    }
    return n;
}

void text_cache_clear(void)
{
    if (kept)
        g_hash_table_destroy(kept);
    if (context_of_all)
        g_object_unref(context_of_all);
    kept = NULL;
    context_of_all = NULL;
}

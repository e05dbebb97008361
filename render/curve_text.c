/* Curves as text: a line per process or thread of a panel, scaled to the panel's highest value. */
#include "render/curves.h"
#include "render/time_columns.h"

#include <stdio.h>
#include <string.h>

#define NAMES 22u
#define LEAST 20u

unsigned curve_text_width(unsigned width)
{
    return width > NAMES + 2 + LEAST ? width - NAMES - 2 : LEAST;
}

static const char *curve_text_level_character(double share, bool ascii)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    int level = (int)(share * 7.999);
    level = level < 0 ? 0 : level > 7 ? 7 : level;
    return ascii ? letters[level] : blocks[level];
}

static void print_line(const struct curve_panel *p, const struct curve_ruler *r,
                       const struct curve_line *l, bool ascii, FILE *f)
{
    fprintf(f, "%-*.*s  ", (int)NAMES, (int)NAMES, l->name);
    for (uint32_t i = 0; i < p->pixels; i++) {
        double value = curve_panel_shown(r, l, l->pixels[i].mean);
        fputs(l->pixels[i].known == SERIES_NOTHING
                  ? " "
                  : curve_text_level_character((value - r->low) / (r->high - r->low), ascii),
              f);
    }
    fputc('\n', f);
}

void curve_text_print(const struct curves *c, bool ascii, FILE *f)
{
    char from[40], to[40];
    time_columns_print(c->from_ns, 1, from, sizeof from);
    time_columns_print(c->to_ns, 1, to, sizeof to);
    fprintf(f, "%s\nfrom %s to %s\n", c->title, from, to);
    for (uint32_t i = 0; i < c->panel_count; i++) {
        const struct curve_panel *p = &c->panels[i];
        struct curve_ruler r = curve_panel_ruler(p, 36);
        char low[60], high[60];
        curve_panel_value(&r, r.low, low, sizeof low);
        curve_panel_value(&r, r.high, high, sizeof high);
        fprintf(f, "\n%s, from %s to %s\n", p->name, low, high);
        for (uint32_t k = 0; k < p->line_count; k++)
            print_line(p, &r, &p->lines[k], ascii, f);
    }
    if (c->below)
        fprintf(f, "\nnote: %s\n", c->below);
}

#include "clients/view/drawer/spells.h"

#include "render/lettering.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const struct state {
    const char *word;
    double red, green, blue;
    bool hatched;
} states[SPELL_STATES] = {
    {"start", 0.62, 0.62, 0.62, false},   {"ready", 0.95, 0.77, 0.06, false},
    {"running", 0.16, 0.65, 0.27, false}, {"blocked", 0.8, 0.16, 0.16, false},
    {"system", 0.95, 0.5, 0.1, false},    {"terminate", 0.75, 0.75, 0.75, false},
    {"unknown", 0.5, 0.5, 0.5, true}};

const char *spells_word(unsigned state) { return states[state].word; }

static unsigned state_of(const char *word)
{
    for (unsigned i = 0; i < SPELL_STATES; i++)
        if (strcmp(states[i].word, word) == 0)
            return i;
    return SPELL_STATES - 1;
}

/* The columns of the table, in their order; others may come behind them. */
enum column { THREAD, STATE, FROM, TOOK, SO_FAR, WHERE, FOR, COLUMNS };

bool spells_row(const struct shown_table *t, uint32_t row, struct spell_row *spell)
{
    if (t->column_count < COLUMNS || row >= t->row_count)
        return false;
    const struct table_cell *c = table_cells(t, row);
    if (c[THREAD].is != CELL_LINE || c[STATE].is != CELL_TEXT || c[FROM].is != CELL_NUMBER ||
        c[TOOK].is != CELL_NUMBER)
        return false;
    *spell = (struct spell_row){.line = c[THREAD].line,
                                .about = c[FOR].is == CELL_LINE ? c[FOR].line : 0,
                                .state = state_of(c[STATE].text),
                                .from_ns = c[FROM].number,
                                .took_ns = c[TOOK].number,
                                .event = t->rows[row].event};
    uint32_t doubt = t->column_count > COLUMNS ? COLUMNS : FOR;
    if (c[doubt].is == CELL_TEXT)
        spell->doubt = c[doubt].text;
    if (c[WHERE].is == CELL_PLACE)
        spell->where = c[WHERE].place;
    return true;
}

char *spells_say(const struct table_names *names, const struct spell_row *s)
{
    GString *text = g_string_new(book_label(names->book, s->line));
    g_string_append_printf(text, ": %s", spells_word(s->state));
    if (s->about)
        g_string_append_printf(text, ", for %s", book_label(names->book, s->about));
    g_string_append_printf(text, "\nsince %.3f ms, for %.3f ms", (double)s->from_ns / 1e6,
                           (double)s->took_ns / 1e6);
    if (s->doubt)
        g_string_append_printf(text, "\nnot explained: %s", s->doubt);
    char *where = table_say_place(names, s->where, "");
    if (*where)
        g_string_append_printf(text, "\nfrom %s on", where);
    free(where);
    return g_string_free(text, FALSE);
}

/* ---- shares ---- */

void spells_add(float *shares, int width, unsigned state, double from, double to)
{
    from = CLAMP(from, 0, width);
    to = CLAMP(to, 0, width);
    for (int x = (int)floor(from); x < width && x < to; x++) {
        double begin = MAX(from, x), end = MIN(to, x + 1);
        shares[(size_t)x * SPELL_STATES + state] += (float)MAX(end - begin, 0);
    }
}

bool spells_alike(const float *shares, int one, int other)
{
    return memcmp(shares + (size_t)one * SPELL_STATES, shares + (size_t)other * SPELL_STATES,
                  SPELL_STATES * sizeof *shares) == 0;
}

static void fill(cairo_t *cr, const struct state *s, double x, double y, double wide, double high,
                 bool grey)
{
    double v = 0.3 * s->red + 0.59 * s->green + 0.11 * s->blue;
    cairo_set_source_rgb(cr, grey ? v : s->red, grey ? v : s->green, grey ? v : s->blue);
    cairo_rectangle(cr, x, y, wide, high);
    if (!s->hatched) {
        cairo_fill(cr);
        return;
    }
    cairo_save(cr);
    cairo_clip(cr);
    cairo_set_line_width(cr, 1);
    for (double at = floor(x / 5) * 5 - high; at < x + wide; at += 5) {
        cairo_move_to(cr, at, y + high);
        cairo_line_to(cr, at + high, y);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
}

/* What is there at all is seen: at least a hair of it. */
void spells_paint(cairo_t *cr, const float *shares, double x, double y, double wide, double high,
                  bool grey)
{
    for (unsigned i = 0; i < SPELL_STATES; i++) {
        double part = (double)shares[i];
        if (part <= 0)
            continue;
        part = MIN(MAX(part, 1 / high), 1) * high;
        fill(cr, &states[i], x, y, wide, part, grey);
        y += part;
    }
}

double spells_key(cairo_t *cr, double x, double y, bool dark, bool grey)
{
    double v = dark ? 0.75 : 0.35, begin = x;
    x += 8;
    for (unsigned i = 0; i < SPELL_STATES; i++) {
        fill(cr, &states[i], x, y + 3, 12, 9, grey);
        cairo_set_source_rgb(cr, v, v, v);
        lettering_show(cr, x + 16, y + 1, states[i].word, 8, false);
        x += lettering_width(NULL, states[i].word, 8, false) + 30;
    }
    return x - begin;
}

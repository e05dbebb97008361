#include "clients/view/drawer/spells.h"

#include "render/chart.h"
#include "render/lettering.h"
#include "render/looks.h"
#include "render/shares.h"

#include <glib.h>
#include <math.h>
#include <string.h>

_Static_assert((int)SPELL_UNKNOWN == (int)CHART_UNKNOWN && (int)SPELL_STATES == (int)CHART_STATES,
               "states of charts");

const char *spells_word(unsigned state)
{
    return state == SPELL_UNKNOWN ? "unknown" : chart_word(state);
}

static unsigned state_of(const char *word)
{
    for (unsigned i = 0; i < SPELL_STATES; i++)
        if (strcmp(spells_word(i), word) == 0)
            return i;
    return SPELL_UNKNOWN;
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
    if (t->column_count > COLUMNS + 1 && c[COLUMNS + 1].is == CELL_TEXT)
        spell->on = c[COLUMNS + 1].text;
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
    if (s->on)
        g_string_append_printf(text, ", on %s", s->on);
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

static void fill(cairo_t *cr, unsigned state, double x, double y, double wide, double high,
                 bool grey)
{
    cairo_rectangle(cr, x, y, wide, high);
    looks_fill(cr, state, grey, (cairo_rectangle_t){x, y, wide, high});
}

/* What is there at all is seen: at least a hair of it. */
void spells_paint(cairo_t *cr, const float *shares, double x, double y, double wide, double high,
                  bool grey)
{
    float seen[SPELL_STATES];
    memcpy(seen, shares, sizeof seen);
    shares_seen(seen, (float)(1 / high));
    for (unsigned i = 0; i < SPELL_STATES; i++) {
        if (seen[i] > 0)
            fill(cr, i, x, y, wide, (double)seen[i] * high, grey);
        y += (double)seen[i] * high;
    }
}

double spells_key(cairo_t *cr, double x, double y, bool dark, bool grey)
{
    double v = dark ? 0.75 : 0.35, begin = x;
    x += 8;
    for (unsigned i = 0; i < SPELL_STATES; i++) {
        fill(cr, i, x, y + 3, 12, 9, grey);
        cairo_set_source_rgb(cr, v, v, v);
        lettering_show(cr, x + 16, y + 1, spells_word(i), 8, false);
        x += lettering_width(NULL, spells_word(i), 8, false) + 30;
    }
    return x - begin;
}

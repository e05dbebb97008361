#include "clients/viewer/analysis/state_intervals.h"

#include "render/palette.h"
#include "render/text_cache.h"

#include <glib.h>
#include <math.h>
#include <string.h>

const char *state_interval_state_name(unsigned state)
{
    return state == THREAD_STATE_UNATTRIBUTED ? thread_state_words[state].short_name
                                              : thread_state_name(state);
}

static unsigned state_of(const char *word)
{
    for (unsigned i = 0; i < THREAD_STATES_DRAWN; i++)
        if (strcmp(state_interval_state_name(i), word) == 0)
            return i;
    return THREAD_STATE_UNATTRIBUTED;
}

/* The first columns of the table; more may follow. */
enum state_interval_column { THREAD, STATE, FROM, TOOK, SO_FAR, WHERE, FOR, COLUMNS };

bool state_interval_read_row(const struct result_table *t, uint32_t row,
                             struct state_interval *spell)
{
    if (t->column_count < COLUMNS || row >= t->row_count)
        return false;
    const struct table_cell *c = result_table_cells(t, row);
    if (c[THREAD].is != CELL_LINE || c[STATE].is != CELL_TEXT || c[FROM].is != CELL_NUMBER ||
        c[TOOK].is != CELL_NUMBER)
        return false;
    *spell = (struct state_interval){.line = c[THREAD].line,
                                     .object = c[FOR].is == CELL_LINE ? c[FOR].line : 0,
                                     .state = state_of(c[STATE].text),
                                     .from_ns = c[FROM].number,
                                     .took_ns = c[TOOK].number,
                                     .event = t->rows[row].event};
    uint32_t doubt = t->column_count > COLUMNS ? COLUMNS : FOR;
    if (c[doubt].is == CELL_TEXT)
        spell->uncertain_because = c[doubt].text;
    if (t->column_count > COLUMNS + 1 && c[COLUMNS + 1].is == CELL_TEXT)
        spell->cpu = c[COLUMNS + 1].text;
    if (c[WHERE].is == CELL_PLACE)
        spell->where = c[WHERE].place;
    return true;
}

char *state_interval_describe(const struct table_names *names, const struct state_interval *s)
{
    GString *text = g_string_new(metadata_label(names->book, s->line));
    g_string_append_printf(text, ": %s", state_interval_state_name(s->state));
    if (s->object)
        g_string_append_printf(text, ", for %s", metadata_label(names->book, s->object));
    if (s->cpu)
        g_string_append_printf(text, ", on %s", s->cpu);
    g_string_append_printf(text, "\nsince %.3f ms, for %.3f ms", (double)s->from_ns / 1e6,
                           (double)s->took_ns / 1e6);
    if (s->uncertain_because)
        g_string_append_printf(text, "\ncause unknown: %s", s->uncertain_because);
    char *where = result_table_place_text(names, s->where, "");
    if (*where)
        g_string_append_printf(text, "\nfrom %s on", where);
    free(where);
    return g_string_free(text, FALSE);
}

/* ---- shares ---- */

void state_interval_add_share(float *shares, int width, unsigned state, double from, double to)
{
    from = CLAMP(from, 0, width);
    to = CLAMP(to, 0, width);
    for (int x = (int)floor(from); x < width && x < to; x++) {
        double begin = MAX(from, x), end = MIN(to, x + 1);
        shares[(size_t)x * THREAD_STATES_DRAWN + state] += (float)MAX(end - begin, 0);
    }
}

double state_interval_draw_key(cairo_t *cr, double x, double y, bool dark, bool grey)
{
    double v = dark ? 0.75 : 0.35, begin = x;
    x += 8;
    for (unsigned i = 0; i < THREAD_STATES_DRAWN; i++) {
        cairo_rectangle(cr, x, y + 3, 12, 9);
        palette_fill(cr, i, grey, (cairo_rectangle_t){x, y + 3, 12, 9});
        cairo_set_source_rgb(cr, v, v, v);
        text_cache_show(cr, x + 16, y + 1, state_interval_state_name(i), 8, false);
        x += text_cache_width(NULL, state_interval_state_name(i), 8, false) + 30;
    }
    return x - begin;
}

/* State charts as text: a line per row, a letter per interval. */
#include "base/alloc.h"
#include "render/state_chart.h"
#include "render/state_shares.h"
#include "render/time_columns.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH_LEAST 20u
#define NAMES_MOST 30u
#define MIXED 0.6f /* share of time that a state needs to give a letter; else '%' */

static const char letters[CHART_STATES + 1] = ".~=#s.?";

static char letter_of(const float *share)
{
    unsigned most = 0;
    float all = 0;
    for (unsigned s = 0; s < CHART_STATES; s++) {
        all += share[s];
        if (share[s] > share[most])
            most = s;
    }
    if (all <= 0)
        return ' ';
    return share[most] < MIXED * all ? '%' : letters[most];
}

/* Returns by letter which share of its time the critical path is in this row, 0 to 1. The caller
 * frees it. */
static double *on_way(const struct state_chart *c, uint32_t row)
{
    double *on = xcalloc(c->pixels, sizeof *on);
    double each = (double)(c->to_ns - c->from_ns) / c->pixels;
    for (uint32_t i = 0; i < c->way_count; i++) {
        double from = (double)(c->way[i].from_ns - c->from_ns) / each,
               to = (double)(c->way[i].to_ns - c->from_ns) / each;
        unsigned letter = from > 0 ? (unsigned)from : 0;
        for (; c->way[i].row == row && letter < c->pixels && letter < to; letter++) {
            double begin = from > letter ? from : letter, end = to < letter + 1 ? to : letter + 1;
            on[letter] += end - begin;
        }
    }
    return on;
}

static void print_row(const struct state_chart *c, uint32_t row, size_t names, FILE *f)
{
    float(*shares)[CHART_STATES] = shares_of(c, row);
    double *on = on_way(c, row);
    fprintf(f, "%-*.*s  ", (int)names, (int)names, c->rows[row].name);
    for (unsigned i = 0; i < c->pixels; i++)
        fputc(on[i] > 0.5 ? '@' : letter_of(shares[i]), f);
    fputc('\n', f);
    free(on);
    free(shares);
}

static size_t state_chart_text_name_width(const struct state_chart *c)
{
    size_t names = 0;
    for (uint32_t i = 0; i < c->row_count; i++)
        names = strlen(c->rows[i].name) > names ? strlen(c->rows[i].name) : names;
    return names > NAMES_MOST ? NAMES_MOST : names;
}

unsigned state_chart_text_width(const struct state_chart *c, unsigned width)
{
    size_t names = state_chart_text_name_width(c);
    return width > names + 2 + WIDTH_LEAST ? width - (unsigned)names - 2 : WIDTH_LEAST;
}

void state_chart_text_print(const struct state_chart *c, FILE *f)
{
    size_t names = state_chart_text_name_width(c);
    char from[40], to[40];
    time_columns_print(c->from_ns, 1, from, sizeof from);
    time_columns_print(c->to_ns, 1, to, sizeof to);
    fprintf(f, "%s\nfrom %s to %s\n", c->title, from, to);
    for (uint32_t i = 0; i < c->row_count; i++)
        print_row(c, i, names, f);
    fputs(c->overview ? "= active  . not started or exited\n"
                      : "= running  # blocked  ~ runnable  . created, exited  "
                        "? blocked (cause unknown)  % mixed\n",
          f);
    if (c->way_count)
        fprintf(f, "@ %s\n", c->way_name);
    if (c->below)
        fprintf(f, "note: %s\n", c->below);
}

/* A chart in letters. */
#include "memory/memory.h"
#include "render/chart.h"
#include "render/shares.h"
#include "render/timed.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH_LEAST 20u
#define MIXED 0.6f /* of a letter's time, one state has less */

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

static void print_row(const struct chart *c, uint32_t row, size_t names, unsigned width, FILE *f)
{
    float(*shares)[CHART_STATES] = shares_of(c, row, width);
    fprintf(f, "%-*.*s  ", (int)names, (int)names, c->rows[row].name);
    for (unsigned i = 0; i < width; i++)
        fputc(letter_of(shares[i]), f);
    fputc('\n', f);
    free(shares);
}

void chart_print(const struct chart *c, unsigned width, FILE *f)
{
    size_t names = 0;
    char from[40], to[40];
    for (uint32_t i = 0; i < c->row_count; i++)
        names = strlen(c->rows[i].name) > names ? strlen(c->rows[i].name) : names;
    names = names > 30 ? 30 : names;
    width = width > names + 2 + WIDTH_LEAST ? width - (unsigned)names - 2 : WIDTH_LEAST;
    timed_print(c->from_ns, 1, from, sizeof from);
    timed_print(c->to_ns, 1, to, sizeof to);
    fprintf(f, "%s\nfrom %s to %s\n", c->title, from, to);
    for (uint32_t i = 0; i < c->row_count; i++)
        print_row(c, i, names, width, f);
    fputs(c->overview ? "= at work  . made and not begun, or ended\n"
                      : "= running  # blocked  ~ ready  . start, terminate  ? blocked, not known "
                        "why  % several\n",
          f);
    if (c->below)
        fprintf(f, "note: %s\n", c->below);
}

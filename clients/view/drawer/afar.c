#include "clients/view/drawer/afar.h"

#include "clients/book/book.h"
#include "clients/view/drawer/spells.h"
#include "clients/view/parts/camera.h"
#include "clients/view/picture/density.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/view.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

bool afar_wanted(const struct view *view)
{
    const struct shown_strip *s = &view->far.strip;
    return view->camera.place.far && s->row_count && s->by_time && !camera_vertical(&view->camera);
}

/* ---- asking ---- */

bool afar_stale(const struct afar *a)
{
    const struct shown_strip *s = &a->view->far.strip;
    return a->from != s->from || a->to != s->to || a->pixels != s->pixels;
}

static bool is_empty(const struct shown_strip *s, uint32_t row)
{
    const struct strip_cell *cells = s->cells + (size_t)row * s->pixels;
    for (uint32_t i = 0; i < s->pixels; i++)
        for (unsigned k = 0; k < s->classes; k++)
            if (cells[i].share[k])
                return false;
    return true;
}

/* Lines that are no threads have nothing in it. */
static void choose_rows(struct afar *a)
{
    const struct shown_strip *s = &a->strip;
    if (!a->rows)
        a->rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (!a->lived)
        a->lived = g_hash_table_new(NULL, NULL);
    g_array_set_size(a->rows, 0);
    for (uint32_t i = 0; i < s->row_count; i++) {
        gpointer line = GUINT_TO_POINTER(s->rows[i]);
        if (!g_hash_table_contains(a->lived, line) && is_empty(s, i))
            continue;
        g_hash_table_add(a->lived, line);
        g_array_append_val(a->rows, i);
    }
}

static void take(void *user, const struct answer *answer)
{
    struct afar *a = user;
    struct shown_strip strip = {0};
    if (answer->part == PART_REFUSAL) {
        g_free(a->problem);
        a->problem = get_name(answer->in, LIMIT_TEXT_BYTES);
        a->told(a->view);
    }
    if (answer->part != PART_STRIP)
        return;
    get_strip(answer->in, &strip);
    if (!in_done(answer->in) || strip.classes != STRIP_LIVINGS) {
        shown_strip_free(&strip);
        return;
    }
    shown_strip_free(&a->strip);
    g_free(a->problem);
    a->problem = NULL;
    a->strip = strip;
    choose_rows(a);
    a->told(a->view);
}

void afar_ask(struct afar *a)
{
    const struct shown_strip *s = &a->view->far.strip;
    struct window_request rows;
    struct out body = {0};
    if (!density_rows(a->view, &rows))
        return;
    a->from = s->from;
    a->to = s->to;
    a->pixels = s->pixels;
    struct density_request request = {.by_time = true,
                                      .living = true,
                                      .from = s->from,
                                      .to = s->to,
                                      .pixels = s->pixels,
                                      .rows = rows.rows,
                                      .joined = rows.joined,
                                      .row_count = rows.row_count};
    put_density_request(&body, &request);
    free(rows.rows);
    free(rows.joined);
    inquiry_ask(&a->view->link, &a->asked, ASK_STRIP, &body, take, a);
}

void afar_clear(struct afar *a)
{
    inquiry_cancel(&a->view->link, &a->asked);
    shown_strip_free(&a->strip);
    if (a->rows)
        g_array_free(a->rows, TRUE);
    if (a->lived)
        g_hash_table_destroy(a->lived);
    g_free(a->problem);
    a->problem = NULL;
    a->rows = NULL;
    a->lived = NULL;
    a->from = a->to = 0;
    a->pixels = 0;
}

/* ---- drawing ---- */

int afar_rows(const struct afar *a) { return a->rows ? (int)a->rows->len : 0; }

static const struct strip_cell *cells_of(const struct afar *a, int n)
{
    return a->strip.cells + (size_t)g_array_index(a->rows, uint32_t, n) * a->strip.pixels;
}

const char *afar_label(const struct afar *a, int n)
{
    return book_label(the_book(a->view), a->strip.rows[g_array_index(a->rows, uint32_t, n)]);
}

static void shares_of(const struct strip_cell *cell, float *shares)
{
    static const uint8_t states[STRIP_LIVINGS] = {
        [STRIP_LIVING_START] = SPELL_START,         [STRIP_LIVING_READY] = SPELL_READY,
        [STRIP_LIVING_RUNNING] = SPELL_RUNNING,     [STRIP_LIVING_BLOCKED] = SPELL_BLOCKED,
        [STRIP_LIVING_TERMINATE] = SPELL_TERMINATE, [STRIP_LIVING_UNKNOWN] = SPELL_UNKNOWN};
    memset(shares, 0, SPELL_STATES * sizeof *shares);
    for (unsigned k = 0; k < STRIP_LIVINGS; k++)
        shares[states[k]] = (float)cell->share[k] / 255;
}

void afar_draw(const struct afar *a, cairo_t *cr, int n, double y, double high)
{
    const struct strip_cell *cells = cells_of(a, n);
    double names = camera_names_px(&a->view->camera);
    bool grey = settings_theme(&a->view->settings).grey;
    for (uint32_t i = 0, end; i < a->strip.pixels; i = end) {
        float shares[SPELL_STATES];
        for (end = i + 1; end < a->strip.pixels &&
                          !memcmp(cells[i].share, cells[end].share, sizeof cells[i].share);)
            end++;
        shares_of(&cells[i], shares);
        spells_paint(cr, shares, names + i, y, end - i, high, grey);
    }
}

/* ---- in words ---- */

char *afar_say(const struct afar *a, int n, double x_px)
{
    int at = (int)(x_px - camera_names_px(&a->view->camera));
    if (n < 0 || n >= afar_rows(a) || at < 0 || (uint32_t)at >= a->strip.pixels)
        return NULL;
    const struct strip_cell *cell = &cells_of(a, n)[at];
    float shares[SPELL_STATES];
    GString *text = g_string_new(afar_label(a, n));
    bool any = false;
    shares_of(cell, shares);
    for (unsigned state = 0; state < SPELL_STATES; state++) {
        if (shares[state] <= 0)
            continue;
        double percent = 100 * (double)shares[state];
        g_string_append_printf(text, percent < 1 ? "%s %s less than 1 %%" : "%s %s %.0f %%",
                               any ? "," : ":", spells_word(state), percent);
        any = true;
    }
    if (!any)
        g_string_append(text, ": is not there");
    if (cell->about)
        g_string_append_printf(text, "\nmostly for %s", book_label(the_book(a->view), cell->about));
    g_string_append(text, "\nClick to go there");
    return g_string_free(text, FALSE);
}

void afar_print(const struct afar *a, FILE *f)
{
    for (int n = 0; n < afar_rows(a); n++) {
        const struct strip_cell *cells = cells_of(a, n);
        double sums[SPELL_STATES] = {0};
        for (uint32_t i = 0; i < a->strip.pixels; i++) {
            float shares[SPELL_STATES];
            shares_of(&cells[i], shares);
            for (unsigned state = 0; state < SPELL_STATES; state++)
                sums[state] += (double)shares[state];
        }
        fprintf(f, "row %u %s", a->strip.rows[g_array_index(a->rows, uint32_t, n)],
                afar_label(a, n));
        for (unsigned state = 0; state < SPELL_STATES; state++)
            fprintf(f, " %s %.1f", spells_word(state), sums[state]);
        fprintf(f, "\n");
    }
}

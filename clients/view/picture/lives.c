#include "clients/view/picture/lives.h"

#include "clients/view/parts/inquiry.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/view.h"
#include "wire/asked.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_US 250000 /* of a run that grows */
#define MOVED_US 100000 /* where another part of it is seen */

struct lives {
    struct inquiry asking;
    struct shown_strip strip;
    char *problem;
    uint64_t of; /* the serial of the strip that it was asked for */
    gint64 asked_us;
    guint soon;
};

static struct lives *here(struct view *view)
{
    if (!view->lives)
        view->lives = g_new0(struct lives, 1);
    return view->lives;
}

/* Somebody looks at what it is for. */
static bool wanted(const struct view *view)
{
    const struct settings *s = &view->settings;
    bool states = s->drawer && (!s->drawer_page || strcmp(s->drawer_page, "states") == 0);
    return view->camera.place.far && view->far.strip.row_count && (s->tints || states);
}

/* ---- asking ---- */

static void take_part(struct view *view, const struct answer *answer)
{
    struct lives *l = here(view);
    struct shown_strip strip = {0};
    g_clear_pointer(&l->problem, free);
    if (answer->part == PART_REFUSAL) {
        l->problem = get_name(answer->in, LIMIT_TEXT_BYTES);
        return;
    }
    get_strip(answer->in, &strip);
    if (!in_done(answer->in)) {
        shown_strip_free(&strip);
        return;
    }
    shown_strip_free(&l->strip);
    l->strip = strip;
}

static void take(void *user, const struct answer *answer)
{
    struct view *view = user;
    if (answer->part == PART_STRIP || answer->part == PART_REFUSAL)
        take_part(view, answer);
    news_tell(&view->news, NEWS_SEEN);
}

static void ask(struct view *view, struct lives *l)
{
    const struct shown_strip *s = &view->far.strip;
    const struct far_lines *lines = &view->far.shown;
    uint8_t *none = g_new0(uint8_t, s->row_count + 1);
    struct out body = {0};
    struct density_request request = {.by_time = s->by_time,
                                      .living = true,
                                      .pixels = s->pixels,
                                      .from = s->from,
                                      .to = s->to,
                                      .rows = lines->count ? lines->lines : s->rows,
                                      .joined = lines->count ? lines->joined : none,
                                      .row_count = lines->count ? lines->count : s->row_count};
    put_density_request(&body, &request);
    g_free(none);
    l->of = view->far.serial;
    l->asked_us = g_get_monotonic_time();
    inquiry_ask(&view->link, &l->asking, ASK_STRIP, &body, take, view);
}

/* Is another part seen than that which is here? */
static bool has_moved(struct view *view, const struct lives *l)
{
    return !lives_of(view) || l->strip.from != view->far.strip.from ||
           l->strip.to != view->far.strip.to;
}

static gboolean on_soon(gpointer data);

static void ask_soon(struct view *view, struct lives *l)
{
    bool fits = l->of == view->far.serial;
    gint64 since = g_get_monotonic_time() - l->asked_us;
    if (fits || l->soon || !wanted(view) || !view->link.connected || !view->link.has_run)
        return;
    bool runs = inquiry_runs(&view->link, &l->asking);
    if (!runs && since >= (has_moved(view, l) ? MOVED_US : EVERY_US))
        ask(view, l);
    else
        l->soon = g_timeout_add(20, on_soon, view);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    view->lives->soon = 0;
    ask_soon(view, view->lives);
    return G_SOURCE_REMOVE;
}

bool lives_busy(struct view *view)
{
    struct lives *l = here(view);
    return wanted(view) &&
           (inquiry_runs(&view->link, &l->asking) || (l->soon && has_moved(view, l)));
}

void lives_take(struct view *view, enum news news)
{
    (void)news;
    ask_soon(view, here(view));
}

void lives_clear(struct view *view)
{
    struct lives *l = here(view);
    inquiry_cancel(&view->link, &l->asking);
    shown_strip_free(&l->strip);
    g_clear_pointer(&l->problem, free);
    if (l->soon)
        g_source_remove(l->soon);
    l->soon = 0;
    l->of = 0;
}

/* ---- what is here ---- */

const struct shown_strip *lives_of(struct view *view)
{
    const struct shown_strip *l = &here(view)->strip, *s = &view->far.strip;
    bool same = l->row_count && l->row_count == s->row_count && l->by_time == s->by_time &&
                l->classes == STRIP_LIVINGS && wanted(view);
    return same && memcmp(l->rows, s->rows, l->row_count * sizeof *l->rows) == 0 ? l : NULL;
}

int lives_pixel(const struct shown_strip *l, const struct shown_strip *seen, uint32_t pixel)
{
    if (l->from == seen->from && l->to == seen->to && l->pixels == seen->pixels)
        return (int)pixel;
    double at = (double)seen->from + (pixel + 0.5) * (double)(seen->to - seen->from) / seen->pixels,
           share = (at - (double)l->from) / (double)(l->to - l->from);
    return share >= 0 && share < 1 ? (int)(share * l->pixels) : -1;
}

bool lives_has(const struct shown_strip *l, uint32_t row)
{
    static const struct strip_cell nothing;
    const struct strip_cell *cells = l->cells + (size_t)row * l->pixels;
    for (uint32_t i = 0; i < l->pixels; i++)
        if (memcmp(cells[i].share, nothing.share, sizeof nothing.share) != 0)
            return true;
    return false;
}

const char *lives_problem(struct view *view) { return wanted(view) ? here(view)->problem : NULL; }

bool lives_runs(struct view *view)
{
    return wanted(view) && !lives_of(view) && inquiry_runs(&view->link, &here(view)->asking);
}

#include "clients/viewer/diagram/measured_states.h"

#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/limits.h"
#include "wire/request.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_US 250000 /* between requests, while the run grows */
#define MOVED_US 100000 /* after the visible range changed */

struct measured_states {
    struct request_slot asking;
    struct state_bands strip;
    char *problem;
    uint64_t of; /* serial of the state bands of the last request */
    gint64 asked_us;
    guint soon;
};

static const struct viewer_addon measured_states_addon = {"measured_states",
                                                          sizeof(struct measured_states)};

static struct measured_states *measured_states_state(struct view *view)
{
    struct measured_states *state = viewer_addons_find(&view->addons, &measured_states_addon);
    return state ? state : viewer_addons_add(&view->addons, &measured_states_addon);
}

static bool measured_states_is_needed(const struct view *view)
{
    return view->viewport.place.overview && view->overview.strip.row_count;
}

/* ---- requests ---- */

static void measured_states_receive_part(struct view *view, const struct response_chunk *answer)
{
    struct measured_states *l = measured_states_state(view);
    struct state_bands strip = {0};
    g_clear_pointer(&l->problem, free);
    if (answer->part == RESPONSE_ERROR) {
        l->problem = decode_name(answer->in, LIMIT_TEXT_BYTES);
        return;
    }
    decode_state_bands(answer->in, &strip);
    if (!decoder_finish(answer->in)) {
        state_bands_free(&strip);
        return;
    }
    state_bands_free(&l->strip);
    l->strip = strip;
}

static void measured_states_receive(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    if (answer->part == RESPONSE_STATE_BANDS || answer->part == RESPONSE_ERROR)
        measured_states_receive_part(view, answer);
    notifier_emit(&view->notifier, NOTIFY_VISIBLE_PART);
}

static void measured_states_request(struct view *view, struct measured_states *l)
{
    const struct state_bands *s = &view->overview.strip;
    const struct overview_lines *lines = &view->overview.shown;
    uint8_t *none = g_new0(uint8_t, s->row_count + 1);
    struct encoder body = {0};
    struct density_request request = {.by_time = s->by_time,
                                      .living = true,
                                      .pixels = s->pixels,
                                      .from = s->from,
                                      .to = s->to,
                                      .rows = lines->count ? lines->lines : s->rows,
                                      .joined = lines->count ? lines->joined : none,
                                      .row_count = lines->count ? lines->count : s->row_count};
    encode_density_request(&body, &request);
    g_free(none);
    l->of = view->overview.serial;
    l->asked_us = g_get_monotonic_time();
    request_slot_send(&view->server_link, &l->asking, REQUEST_STATE_BANDS, &body,
                      measured_states_receive, view);
}

/* Returns whether the visible range is not that of the answer. */
static bool has_moved(struct view *view, const struct measured_states *l)
{
    return !measured_states_of(view) || l->strip.from != view->overview.strip.from ||
           l->strip.to != view->overview.strip.to;
}

static void measured_states_request_soon(void *user)
{
    struct view *view = user;
    struct measured_states *l = measured_states_state(view);
    bool fits = l->of == view->overview.serial;
    gint64 since = g_get_monotonic_time() - l->asked_us;
    if (fits || l->soon || !measured_states_is_needed(view) || !view->server_link.connected ||
        !view->server_link.has_run)
        return;
    bool runs = request_slot_is_running(&view->server_link, &l->asking);
    if (!runs && since >= (has_moved(view, l) ? MOVED_US : EVERY_US))
        measured_states_request(view, l);
    else
        request_slot_schedule(&l->soon, 20, measured_states_request_soon, view);
}

bool measured_states_is_busy(struct view *view)
{
    struct measured_states *l = measured_states_state(view);
    return measured_states_is_needed(view) &&
           (request_slot_is_running(&view->server_link, &l->asking) ||
            (l->soon && has_moved(view, l)));
}

void measured_states_on_notification(struct view *view, enum notification what)
{
    (void)what;
    measured_states_request_soon(view);
}

void measured_states_clear(struct view *view)
{
    struct measured_states *l = measured_states_state(view);
    request_slot_cancel(&view->server_link, &l->asking);
    state_bands_free(&l->strip);
    g_clear_pointer(&l->problem, free);
    g_clear_handle_id(&l->soon, g_source_remove);
    l->of = 0;
}

/* ---- results ---- */

const struct state_bands *measured_states_of(struct view *view)
{
    const struct state_bands *l = &measured_states_state(view)->strip, *s = &view->overview.strip;
    bool same = l->row_count && l->row_count == s->row_count && l->by_time == s->by_time &&
                l->classes == BAND_LIVINGS && measured_states_is_needed(view);
    return same && memcmp(l->rows, s->rows, l->row_count * sizeof *l->rows) == 0 ? l : NULL;
}

int measured_states_find_pixel(const struct state_bands *l, const struct state_bands *seen,
                               uint32_t pixel)
{
    if (l->from == seen->from && l->to == seen->to && l->pixels == seen->pixels)
        return (int)pixel;
    double at = (double)seen->from + (pixel + 0.5) * (double)(seen->to - seen->from) / seen->pixels,
           share = (at - (double)l->from) / (double)(l->to - l->from);
    return share >= 0 && share < 1 ? (int)(share * l->pixels) : -1;
}

struct state_band_cell *measured_states_cells(const struct state_bands *l,
                                              const struct state_bands *seen, uint32_t row)
{
    struct state_band_cell *cells = g_new0(struct state_band_cell, seen->pixels + 1);
    for (uint32_t i = 0; i < seen->pixels; i++) {
        int at = measured_states_find_pixel(l, seen, i);
        if (at >= 0)
            cells[i] = l->cells[(size_t)row * l->pixels + (size_t)at];
    }
    return cells;
}

bool measured_states_has_row(const struct state_bands *l, uint32_t row)
{
    static const struct state_band_cell nothing;
    const struct state_band_cell *cells = l->cells + (size_t)row * l->pixels;
    for (uint32_t i = 0; i < l->pixels; i++)
        if (memcmp(cells[i].share, nothing.share, sizeof nothing.share) != 0)
            return true;
    return false;
}

const char *measured_states_problem(struct view *view)
{
    return measured_states_is_needed(view) ? measured_states_state(view)->problem : NULL;
}

bool measured_states_is_running(struct view *view)
{
    return measured_states_is_needed(view) && !measured_states_of(view) &&
           request_slot_is_running(&view->server_link, &measured_states_state(view)->asking);
}

#include "clients/viewer/state/run_notes.h"

#include "wire/layout_results.h"
#include "wire/request.h"

#define FLAG_HIGH_PX 9
#define PLACED_MOST 2000u /* the overview map omits further ones */

/* ---- positions, requested one after the other ---- */

static void run_notes_request_next(struct run_notes *noted);

static void run_notes_receive_window(void *user, const struct response_chunk *answer)
{
    struct run_notes *noted = user;
    struct window_info window;
    if (!request_slot_read_window(answer, &window))
        return;
    struct event_id at = noted->notes.items[noted->asked_index].at;
    for (uint32_t i = 0; i < window.event_count; i++)
        if (event_id_equal(window.events[i].at, at)) {
            noted->moments[noted->asked_index].position = window.events[i].position;
            noted->moments[noted->asked_index].time_ns = window.events[i].time_ns;
        }
    window_info_free(&window);
    notifier_emit(noted->notifier, NOTIFY_NOTES);
    run_notes_request_next(noted);
}

static void run_notes_request_next(struct run_notes *noted)
{
    uint32_t i = 0;
    while (i < noted->notes.count && noted->moments[i].asked)
        i++;
    if (i == noted->notes.count || i >= PLACED_MOST || !noted->link->connected)
        return;
    struct window_request request = {
        .anchor = ANCHOR_EVENT, .event = noted->notes.items[i].at, .columns = 1, .row_count = 1};
    request.rows = g_new(uint32_t, 1);
    request.rows[0] = noted->notes.items[i].at.line;
    request.joined = g_new0(uint8_t, 1);
    noted->moments[i].asked = true;
    noted->asked_index = i;
    request_slot_request_window(noted->link, &noted->slot, &request, run_notes_receive_window,
                                noted);
}

/* Requests all positions again: there are few notes, and their indices have changed. */
static void place_all(struct run_notes *noted)
{
    request_slot_cancel(noted->link, &noted->slot);
    noted->moments = g_renew(struct note_moment, noted->moments, noted->notes.count + 1);
    noted->scene = g_renew(struct scene_noted, noted->scene, noted->notes.count + 1);
    for (uint32_t i = 0; i < noted->notes.count; i++) {
        noted->moments[i] = (struct note_moment){.position = NO_POSITION};
        noted->scene[i] =
            (struct scene_noted){noted->notes.items[i].at, noted->notes.items[i].text};
    }
    run_notes_request_next(noted);
}

/* ---- reading and writing ---- */

static void run_notes_close(struct run_notes *noted)
{
    request_slot_cancel(noted->link, &noted->slot);
    note_file_free(&noted->notes);
    g_clear_pointer(&noted->moments, g_free);
    g_clear_pointer(&noted->scene, g_free);
}

bool run_notes_open(struct run_notes *noted, struct error *error)
{
    run_notes_close(noted);
    bool ok = note_file_open(&noted->notes, &noted->link->source, error);
    place_all(noted);
    return ok;
}

enum notes_kept run_notes_set(struct run_notes *noted, struct event_id at, const char *text,
                              struct error *error)
{
    enum notes_kept kept = note_file_set(&noted->notes, at, text, error);
    place_all(noted);
    return kept;
}

/* ---- flags ---- */

void run_notes_draw_flags(const struct run_notes *noted, cairo_t *cr,
                          const struct run_notes_range *span, double x_px, double width_px)
{
    cairo_set_source_rgb(cr, 0.93, 0.26, 0.2);
    for (uint32_t i = 0; i < noted->notes.count && span->to > span->from; i++) {
        const struct note_moment *m = &noted->moments[i];
        double at = span->by_time ? (double)m->time_ns : (double)m->position,
               x = x_px + (at - span->from) / (span->to - span->from) * width_px;
        if (m->position == NO_POSITION || x < x_px || x > x_px + width_px)
            continue;
        cairo_rectangle(cr, x, 0, 1.5, FLAG_HIGH_PX + 5);
        cairo_rectangle(cr, x, 0, FLAG_HIGH_PX, FLAG_HIGH_PX - 2);
        cairo_fill(cr);
    }
}

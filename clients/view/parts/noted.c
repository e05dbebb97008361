#include "clients/view/parts/noted.h"

#include "clients/view/parts/inquiry.h"
#include "wire/asked.h"
#include "wire/placed.h"

#include <string.h>

#define PLACED_MOST 2000u /* of more nobody needs to see all in the map */

/* ---- where they are: asked one after the other ---- */

static void ask_next(struct noted *noted);

static void take_window(void *user, const struct answer *answer)
{
    struct noted *noted = user;
    struct shown_window window;
    if (!inquiry_window_read(answer, &window))
        return;
    struct ref at = noted->notes.items[noted->asks].at;
    for (uint32_t i = 0; i < window.event_count; i++)
        if (ref_equal(window.events[i].at, at)) {
            noted->moments[noted->asks].position = window.events[i].position;
            noted->moments[noted->asks].time_ns = window.events[i].time_ns;
        }
    shown_window_free(&window);
    news_tell(noted->news, NEWS_NOTES);
    ask_next(noted);
}

static void ask_next(struct noted *noted)
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
    noted->asks = i;
    inquiry_window(noted->link, &noted->asking, &request, take_window, noted);
}

/* All anew: there are few, and they have moved in the list. */
static void place_all(struct noted *noted)
{
    inquiry_cancel(noted->link, &noted->asking);
    noted->moments = g_renew(struct moment_of_note, noted->moments, noted->notes.count + 1);
    noted->scene = g_renew(struct scene_noted, noted->scene, noted->notes.count + 1);
    for (uint32_t i = 0; i < noted->notes.count; i++) {
        noted->moments[i] = (struct moment_of_note){.position = NO_POSITION};
        noted->scene[i] =
            (struct scene_noted){noted->notes.items[i].at, noted->notes.items[i].text};
    }
    ask_next(noted);
}

/* ---- what is written ---- */

bool noted_open(struct noted *noted, struct error *error)
{
    noted_close(noted);
    bool ok = notes_open(&noted->notes, &noted->link->source, error);
    place_all(noted);
    return ok;
}

void noted_close(struct noted *noted)
{
    inquiry_cancel(noted->link, &noted->asking);
    notes_free(&noted->notes);
    g_clear_pointer(&noted->moments, g_free);
    g_clear_pointer(&noted->scene, g_free);
}

enum notes_kept noted_set(struct noted *noted, struct ref at, const char *text, struct error *error)
{
    enum notes_kept kept = notes_set(&noted->notes, at, text, error);
    place_all(noted);
    return kept;
}

#include "clients/view/panels/waiting.h"

#include "clients/book/say.h"
#include "clients/site/site.h"
#include "clients/source/waits.h"
#include "clients/view/panels/list.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/ask.h"
#include "wire/found.h"
#include "wire/limits.h"
#include "wire/shown.h"

#include <stdlib.h>

#define TOLD_MOST 500

struct waiting {
    GtkWidget *list;
    struct waits waits, coming;
    struct inquiry asked;
    bool hang_shown; /* the panel opened by itself once */
};

static void tell_cycle(struct view *view, struct waiting *state, const struct shown_cycle *cycle)
{
    const struct shown_wait *first =
        cycle->count ? waits_of(&state->waits, cycle->steps[0].thread) : NULL;
    char *said = say_cycle(the_book(view), cycle);
    char *text = g_markup_printf_escaped("<b>These wait for each other:</b> %s", said);
    list_add(state->list, text, first ? first->event.at : (struct ref){0, 0});
    g_free(text);
    free(said);
}

static void tell_wait(struct view *view, struct waiting *state, const struct shown_wait *w)
{
    struct said said = say_wait(the_book(view), w);
    char since[32];
    scene_duration(state->waits.now_ns - w->event.time_ns, since, sizeof since);
    GString *s = g_string_new(NULL);
    char *head = g_markup_printf_escaped("<b>%s</b> %s %s\n<small>for %s before the last event",
                                         said.who, said.does, said.about, since);
    g_string_append(s, head);
    if (w->event.site) {
        struct site_is site = sites_call(view->link.sites, w->event.process, w->event.site);
        char *place = g_markup_escape_text(site.place, -1);
        g_string_append_printf(s, ", at %s", place);
        g_free(place);
    }
    g_string_append(s, "</small>");
    for (uint32_t i = 0; i < w->holder_count; i++) {
        char text[LIMIT_TEXT_BYTES];
        say_holder(text, sizeof text, the_book(view), &w->holders[i]);
        char *held = g_markup_printf_escaped("\n<small>%s</small>", text);
        g_string_append(s, held);
        g_free(held);
    }
    list_add(state->list, s->str, w->event.at);
    g_free(head);
    g_string_free(s, TRUE);
}

/* In a hang this is the answer: it opens by itself, once. */
static void show_waits(struct view *view, struct waiting *state)
{
    list_empty(state->list);
    for (size_t i = 0; i < state->waits.cycle_count; i++)
        tell_cycle(view, state, &state->waits.cycles[i]);
    for (size_t i = 0; i < state->waits.count && i < TOLD_MOST; i++)
        tell_wait(view, state, &state->waits.items[i]);
    if (state->waits.cycle_count && !state->hang_shown) {
        state->hang_shown = true;
        panel_show(view, panel_waiting.name);
        status_say(&view->status, "Threads wait for each other in a cycle");
    }
}

static void take_waits(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct waiting *state = panel_state(view, &panel_waiting);
    if (!waits_take(&state->coming, answer))
        return;
    waits_free(&state->waits);
    state->waits = state->coming;
    state->coming = (struct waits){0};
    show_waits(view, state);
}

static void take(struct view *view, enum news news)
{
    struct waiting *state = panel_state(view, &panel_waiting);
    if (news != NEWS_SHOWN && news != NEWS_QUIET)
        return;
    waits_free(&state->coming);
    inquiry_ask(&view->link, &state->asked, ASK_WAITS, NULL, take_waits, view);
}

static void clear(struct view *view)
{
    struct waiting *state = panel_state(view, &panel_waiting);
    waits_free(&state->waits);
    waits_free(&state->coming);
    state->hang_shown = false;
}

const struct shown_event *waiting_oldest(struct view *view)
{
    const struct waiting *state = panel_state(view, &panel_waiting);
    return state->waits.count ? &state->waits.items[0].event : NULL;
}

static GtkWidget *build(struct view *view)
{
    struct waiting *state = g_new0(struct waiting, 1);
    panel_keep(view, &panel_waiting, state);
    return list_new(view, &state->list, "No thread waits at the end of what was recorded.");
}

const struct panel panel_waiting = {"waiting", "Waiting", build, take, clear};

#include "clients/view/panels/waiting.h"

#include "clients/book/fate.h"
#include "clients/book/say.h"
#include "clients/site/site.h"
#include "clients/source/waits.h"
#include "clients/view/panels/list.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/ties.h"
#include "clients/view/picture/picture.h"
#include "clients/view/picture/view.h"
#include "wire/ask.h"
#include "wire/asleep.h"
#include "wire/found.h"
#include "wire/limits.h"
#include "wire/shown.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_MOST 500
#define ASKED_EVERY_US 1000000
#define SHORT_NS                                                                                   \
    1000000000 /* in a live run who waits no longer is not worth a word in the header */

struct waiting {
    GtkWidget *list;
    struct waits waits, coming;
    struct inquiry asked;
    gint64 asked_us, told_us; /* when; the clock when the answer came */
    guint tick; /* the durations of a live run go on */
    bool hang_shown; /* the panel opened by itself once */
    bool told; /* there was an answer */
};

/* What time it is by now, in a run that goes on. */
static struct shown_now now_of(const struct waiting *state)
{
    struct shown_now now = state->waits.now;
    if (now.live && now.now_ns >= 0)
        now.now_ns += (g_get_monotonic_time() - state->told_us) * 1000;
    return now;
}

/* ---- the page ---- */

static void tell_cycle(struct view *view, struct waiting *state, const struct shown_cycle *cycle)
{
    list_add(state->list,
             "<b>Deadlock</b>: each of these waits for the next, the last for the first",
             cycle->count ? cycle->steps[0].at : (struct ref){0, 0});
    for (uint32_t i = 0; i < cycle->count && i < TOLD_MOST; i++) {
        char *said = fate_step(the_book(view), cycle, i);
        char *text = g_markup_printf_escaped("<span foreground=\"#C62828\">●</span> %s", said);
        list_add(state->list, text, cycle->steps[i].at);
        g_free(text);
        free(said);
    }
}

static void tell_verdict(struct view *view, struct waiting *state, const struct shown_verdict *v)
{
    char *said = fate_verdict(the_book(view), v);
    if (!said)
        return;
    char **lines = g_strsplit(said, "\n", 2);
    char *rest = g_strchomp(g_strdup(lines[1] ? lines[1] : ""));
    lines[0][0] = g_ascii_toupper(lines[0][0]);
    char *text = g_markup_printf_escaped(*rest ? "<b>%s</b>\n<small>%s</small>" : "<b>%s</b>%s",
                                         lines[0], rest);
    list_add(state->list, text, v->waker.line ? v->waker : v->wait);
    g_free(text);
    g_free(rest);
    g_strfreev(lines);
    free(said);
}

static void add_small(GString *s, const char *text)
{
    char *small = g_markup_printf_escaped("\n<small>%s</small>", text);
    g_string_append(s, small);
    g_free(small);
}

static void tell_wait(struct view *view, struct waiting *state, const struct shown_wait *w)
{
    struct said said = say_wait(the_book(view), w);
    struct shown_now now = now_of(state);
    char since[100], text[LIMIT_TEXT_BYTES];
    fate_since(since, sizeof since, &now, w->since_ns);
    GString *s = g_string_new(NULL);
    char *head = g_markup_printf_escaped("<b>%s</b> %s%s%s\n<small>%s", said.who, said.does,
                                         *said.about ? " " : "", said.about, since);
    g_string_append(s, head);
    if (w->event.site && !w->end) {
        struct site_is site = sites_call(view->link.sites, w->event.process, w->event.site);
        char *place = g_markup_escape_text(site.place, -1);
        g_string_append_printf(s, ", at %s", place);
        g_free(place);
    }
    g_string_append(s, "</small>");
    for (uint32_t i = 0; i < w->holder_count; i++) {
        say_holder(text, sizeof text, the_book(view), &w->holders[i]);
        add_small(s, text);
    }
    const struct shown_wait *of = waits_of(&state->waits, w->about);
    if (of && of != w) {
        char *itself = fate_itself(the_book(view), of);
        add_small(s, itself);
        free(itself);
    }
    list_add(state->list, s->str, w->event.at);
    g_free(head);
    g_string_free(s, TRUE);
}

static bool is_seen(struct view *view)
{
    const char *page = gtk_stack_get_visible_child_name(GTK_STACK(view->panels));
    return view->settings.panel && g_strcmp0(page, panel_waiting.name) == 0;
}

static void tell_waits(struct view *view, struct waiting *state, bool at_exit)
{
    bool any = false;
    for (size_t i = 0; i < state->waits.count && i < TOLD_MOST; i++) {
        const struct shown_wait *w = &state->waits.items[i];
        if (w->at_exit != at_exit)
            continue;
        if (at_exit && !any)
            list_add(state->list, "<b>Waiting at exit</b>: the program ended by itself",
                     w->event.at);
        any = true;
        tell_wait(view, state, w);
    }
}

/* Threads that sleep in calls that are not traced: nothing is concluded from that. */
static void tell_sleepers(struct view *view, struct waiting *state)
{
    const struct waits *waits = &state->waits;
    struct shown_now now = now_of(state);
    char *all = waits_asleep(waits), since[100];
    if (!all)
        return;
    char *head = g_markup_escape_text(all, -1);
    list_add(state->list, head, waits->sleepers[0].event.at);
    for (size_t i = 0; i < waits->sleeper_count && i < TOLD_MOST; i++) {
        const struct shown_sleeper *s = &waits->sleepers[i];
        const char *call = asleep_name(s->call);
        fate_since(since, sizeof since, &now, s->since_ns);
        char *row = g_markup_printf_escaped("<b>%s</b> sleeps%s%s\n<small>%s</small>",
                                            book_label(the_book(view), s->thread),
                                            *call ? " in " : "", call, since);
        list_add(state->list, row, s->event.at);
        g_free(row);
    }
    g_free(head);
    free(all);
}

static void fill(struct view *view, struct waiting *state)
{
    list_empty(state->list);
    for (size_t i = 0; i < state->waits.cycle_count; i++)
        tell_cycle(view, state, &state->waits.cycles[i]);
    for (size_t i = 0; i < state->waits.verdict_count && i < TOLD_MOST; i++)
        tell_verdict(view, state, &state->waits.verdicts[i]);
    tell_waits(view, state, false);
    tell_sleepers(view, state);
    tell_waits(view, state, true);
}

/* Not under somebody's pointer or keys. */
static gboolean on_tick(gpointer data)
{
    struct view *view = data;
    struct waiting *state = panel_state(view, &panel_waiting);
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(state->list));
    bool used = row || gtk_widget_get_focus_child(state->list);
    if (is_seen(view) && !used && state->waits.now.live)
        fill(view, state);
    news_tell(&view->news, NEWS_WAITS);
    return G_SOURCE_CONTINUE;
}

static void stop_tick(struct waiting *state)
{
    if (state->tick)
        g_source_remove(state->tick);
    state->tick = 0;
}

/* ---- what of it is drawn ---- */

/* The legend speaks of it. */
static void draw_cycles(struct view *view, const struct waits *waits)
{
    uint32_t count;
    struct ref *pairs = waits_pairs(waits, &count);
    if (ties_stuck(&view->ties, pairs, count))
        picture_rebuild(view);
    free(pairs);
}

/* In a hang this is the answer: it opens by itself, once. */
static void show_waits(struct view *view, struct waiting *state)
{
    fill(view, state);
    draw_cycles(view, &state->waits);
    stop_tick(state);
    if (state->waits.now.live && state->waits.count)
        state->tick = g_timeout_add(1000, on_tick, view);
    if (state->waits.cycle_count && !state->hang_shown) {
        state->hang_shown = true;
        panel_show(view, panel_waiting.name);
        status_say(&view->status, "Threads wait for each other in a cycle");
    }
    news_tell(&view->news, NEWS_WAITS);
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
    state->told_us = g_get_monotonic_time();
    state->told = true;
    show_waits(view, state);
}

static void ask(struct view *view, struct waiting *state)
{
    struct out body = {0};
    put_u8(&body, 1);
    waits_free(&state->coming);
    state->asked_us = g_get_monotonic_time();
    inquiry_ask(&view->link, &state->asked, ASK_WAITS, &body, take_waits, view);
}

/* While a run grows, now and then. */
static bool is_time(struct view *view, const struct waiting *state)
{
    return !inquiry_runs(&view->link, &state->asked) &&
           g_get_monotonic_time() - state->asked_us > ASKED_EVERY_US;
}

static void take(struct view *view, enum news news)
{
    struct waiting *state = panel_state(view, &panel_waiting);
    if (news == NEWS_SHOWN || news == NEWS_QUIET || (news == NEWS_GROWN && is_time(view, state)))
        ask(view, state);
}

static void clear(struct view *view)
{
    struct waiting *state = panel_state(view, &panel_waiting);
    waits_free(&state->waits);
    waits_free(&state->coming);
    stop_tick(state);
    state->hang_shown = state->told = false;
    state->asked_us = 0;
    ties_stuck(&view->ties, NULL, 0);
    news_tell(&view->news, NEWS_WAITS);
}

const struct shown_event *waiting_oldest(struct view *view)
{
    const struct waiting *state = panel_state(view, &panel_waiting);
    return state->waits.count ? &state->waits.items[0].event : NULL;
}

/* Nobody is left who could wake them, as far as is seen; but for a moment that may look so in any program. */
static bool seems_hung(const struct waiting *state, const struct shown_now *now)
{
    bool quiet = !now->live || now->now_ns - now->last_ns >= SHORT_NS;
    for (size_t i = 0; quiet && i < state->waits.verdict_count; i++) {
        const struct shown_verdict *v = &state->waits.verdicts[i];
        if (v->fate == FATE_PERHAPS && !(v->doubts & DOUBT_RUNS))
            return true;
    }
    return false;
}

enum waiting_worst waiting_worst(struct view *view, unsigned *count)
{
    const struct waiting *state = panel_state(view, &panel_waiting);
    struct shown_now now = now_of(state);
    bool never = false;
    *count = 0;
    for (size_t i = 0; i < state->waits.count; i++) {
        const struct shown_wait *w = &state->waits.items[i];
        never |= w->fate == FATE_NEVER;
        *count += !w->at_exit && (!now.live || now.now_ns - w->since_ns >= SHORT_NS);
    }
    return state->waits.cycle_count  ? WAITING_DEADLOCK
           : never                   ? WAITING_HANG
           : seems_hung(state, &now) ? WAITING_PERHAPS
           : *count                  ? WAITING_SOME
                                     : WAITING_NOBODY;
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct waiting *state = data;
    (void)widget;
    stop_tick(state);
    waits_free(&state->waits);
    waits_free(&state->coming);
}

static GtkWidget *build(struct view *view)
{
    struct waiting *state = g_new0(struct waiting, 1);
    panel_keep(view, &panel_waiting, state);
    GtkWidget *page =
        list_new(view, &state->list, "No thread waits at the end of what was recorded.");
    g_signal_connect(page, "destroy", G_CALLBACK(on_destroy), state);
    return page;
}

const struct panel panel_waiting = {"waiting", "Waiting", build, take, clear};

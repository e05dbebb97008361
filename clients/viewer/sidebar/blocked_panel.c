/* The panel of threads that are blocked at the end of the recording. */
#include "clients/viewer/sidebar/panel.h"

#include "clients/connection/wait_list.h"
#include "clients/metadata/event_text.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/violation_rows.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/state/status_line.h"
#include "wire/limits.h"
#include "wire/os_usage.h"
#include "wire/query_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdlib.h>

#define ROWS_SHOWN 500
#define ASKED_EVERY_US 1000000
#define SHORT_NS 1000000000 /* the header does not count shorter waits of a live run */

struct blocked_panel {
    GtkWidget *list;
    struct wait_list waits, coming;
    struct request_slot asked;
    gint64 asked_us, answered_us; /* times of the last request, and answer */
    guint tick; /* updates the durations in a live run */
    struct violation_rows violations;
    enum blocked_worst opened_for; /* the panel has opened by itself; BLOCKED_NONE: it has not */
    bool answered; /* there was an answer */
};

/* Returns the current time of a live run. */
static struct trace_time_info now_of(const struct blocked_panel *state)
{
    struct trace_time_info now = state->waits.now;
    if (now.live && now.now_ns >= 0)
        now.now_ns += (g_get_monotonic_time() - state->answered_us) * 1000;
    return now;
}

/* ---- page ---- */

static void blocked_panel_add_cycle(struct view *view, struct blocked_panel *state,
                                    const struct cycle_info *cycle)
{
    char *title = deadlock_text(cycle), *head = g_markup_printf_escaped("<b>%s</b>", title);
    row_list_add(state->list, head, cycle->count ? cycle->steps[0].at : (struct event_id){0, 0});
    g_free(head);
    free(title);
    for (uint32_t i = 0; i < cycle->count && i < ROWS_SHOWN; i++) {
        char *sentence =
            deadlock_edge_text(view_metadata(view), cycle, i,
                               wait_list_of_thread(&state->waits, cycle->steps[i].thread));
        char *text = g_markup_printf_escaped("<span foreground=\"#C62828\">●</span> %s", sentence);
        row_list_add(state->list, text, cycle->steps[i].at);
        g_free(text);
        free(sentence);
    }
    for (unsigned bit = 1; bit && cycle->count; bit <<= 1)
        if (cycle->doubts & bit && *uncertainty_sentence(bit))
            row_list_add(state->list, uncertainty_sentence(bit), cycle->steps[0].at);
}

/* Adds a diagnosis, which is freed; its first line is the title. */
static void blocked_panel_add_text(struct blocked_panel *state, char *sentence, struct event_id at)
{
    char **lines = g_strsplit(sentence, "\n", 2);
    char *rest = g_strchomp(g_strdup(lines[1] ? lines[1] : ""));
    lines[0][0] = g_ascii_toupper(lines[0][0]);
    char *text = g_markup_printf_escaped(*rest ? "<b>%s</b>\n<small>%s</small>" : "<b>%s</b>%s",
                                         lines[0], rest);
    row_list_add(state->list, text, at);
    g_free(text);
    g_free(rest);
    g_strfreev(lines);
    free(sentence);
}

static void blocked_panel_add_diagnosis(struct view *view, struct blocked_panel *state,
                                        const struct diagnosis_info *v)
{
    char *sentence = diagnosis_text(view_metadata(view), v);
    if (sentence)
        blocked_panel_add_text(state, sentence, v->waker.line ? v->waker : v->wait);
}

static void blocked_panel_add_abandoned_locks(struct view *view, struct blocked_panel *state)
{
    const struct wait_info *w = NULL;
    while ((w = wait_list_abandoned_lock(&state->waits, w)) != NULL)
        blocked_panel_add_text(state, abandoned_lock_text(view_metadata(view), w), w->event.at);
}

static void add_small(GString *s, const char *text)
{
    char *small = g_markup_printf_escaped("\n<small>%s</small>", text);
    g_string_append(s, small);
    g_free(small);
}

static void blocked_panel_add_wait(struct view *view, struct blocked_panel *state,
                                   const struct wait_info *w)
{
    struct event_text sentence = wait_text(view_metadata(view), w);
    struct trace_time_info now = now_of(state);
    char since[100], text[LIMIT_TEXT_BYTES];
    wait_duration_text(since, sizeof since, &now, w->since_ns);
    GString *s = g_string_new(NULL);
    char *head =
        g_markup_printf_escaped("<b>%s</b> %s%s%s\n<small>%s", sentence.thread, sentence.does,
                                *sentence.about ? " " : "", sentence.about, since);
    g_string_append(s, head);
    if (w->event.site) {
        struct symbol_location site =
            symbolize(view->server_link.sites, w->event.process, w->event.site);
        char *place = g_markup_escape_text(site.place, -1);
        g_string_append_printf(s, ", at %s", place);
        g_free(place);
    }
    g_string_append(s, "</small>");
    for (uint32_t i = 0; i < w->holder_count; i++) {
        holder_text(text, sizeof text, view_metadata(view), &w->holders[i], "");
        add_small(s, text);
    }
    const struct wait_info *of = wait_list_awaited(&state->waits, w);
    if (of && of != w) {
        char *itself = transitive_wait_text(view_metadata(view), of);
        add_small(s, itself);
        free(itself);
    }
    row_list_add(state->list, s->str, w->event.at);
    g_free(head);
    g_string_free(s, TRUE);
}

static bool blocked_panel_is_shown(struct view *view)
{
    const char *page = gtk_stack_get_visible_child_name(GTK_STACK(view->panels));
    return view->viewer_settings.panel && g_strcmp0(page, panel_waiting.name) == 0;
}

static void blocked_panel_add_waits(struct view *view, struct blocked_panel *state, bool at_exit)
{
    bool any = false;
    for (size_t i = 0; i < state->waits.count && i < ROWS_SHOWN; i++) {
        const struct wait_info *w = &state->waits.items[i];
        if (w->at_exit != at_exit)
            continue;
        if (at_exit && !any)
            row_list_add(state->list, "<b>Blocked at exit</b>: the program exited by itself",
                         w->event.at);
        any = true;
        blocked_panel_add_wait(view, state, w);
    }
}

/* ---- threads that sleep in untraced calls, from which nothing is concluded ---- */

/* Returns whether a wait counts: in a live run, only if it has been long. */
static bool blocked_panel_is_long(const struct trace_time_info *now, int64_t since_ns)
{
    return !now->live || now->now_ns - since_ns >= SHORT_NS;
}

unsigned blocked_panel_asleep(struct view *view)
{
    const struct blocked_panel *state = panel_state(view, &panel_waiting);
    struct trace_time_info now = now_of(state);
    unsigned count = 0;
    for (size_t i = 0; i < state->waits.sleeper_count; i++)
        count += blocked_panel_is_long(&now, state->waits.sleepers[i].since_ns);
    return count;
}

/* Adds a row with the call in which a thread sleeps and where it sleeps or, if that is not known,
 * where it recorded its last event. */
static void blocked_panel_add_sleeper(struct view *view, GtkWidget *list,
                                      const struct trace_time_info *now,
                                      const struct sleeper_info *s)
{
    const char *call = sleep_call_name(s->call);
    uint64_t site = s->site ? s->site : s->event.site;
    struct symbol_location at = {.place = ""};
    char since[100];
    if (site)
        at = symbolize(view->server_link.sites, s->event.process, site);
    wait_duration_text(since, sizeof since, now, s->since_ns);
    char *row = g_markup_printf_escaped("<b>%s</b> asleep%s%s\n<small>%s%s%s</small>",
                                        metadata_label(view_metadata(view), s->thread),
                                        *call ? " in " : "", call, since,
                                        !*at.place ? ""
                                        : s->site  ? ", at "
                                                   : ", after ",
                                        at.place);
    row_list_add(list, row, s->event.at);
    g_free(row);
}

void blocked_panel_add_sleepers(struct view *view, GtkWidget *list, size_t most)
{
    const struct blocked_panel *state = panel_state(view, &panel_waiting);
    const struct wait_list *waits = &state->waits;
    struct trace_time_info now = now_of(state);
    char *all = blocked_panel_asleep(view) ? wait_list_sleepers(waits) : NULL;
    if (!all)
        return;
    char *head = g_markup_printf_escaped("<b>%s</b>", all);
    row_list_add(list, head, waits->sleepers[0].event.at);
    for (size_t i = 0; i < waits->sleeper_count && i < most; i++)
        blocked_panel_add_sleeper(view, list, &now, &waits->sleepers[i]);
    g_free(head);
    free(all);
}

static void blocked_panel_fill_list(struct view *view, struct blocked_panel *state)
{
    row_list_clear(state->list);
    violation_rows_add(&state->violations, state->list);
    for (size_t i = 0; i < state->waits.cycle_count; i++)
        blocked_panel_add_cycle(view, state, &state->waits.cycles[i]);
    blocked_panel_add_abandoned_locks(view, state);
    for (size_t i = 0; i < state->waits.verdict_count && i < ROWS_SHOWN; i++)
        if (!wait_list_is_explained(&state->waits, &state->waits.verdicts[i]))
            blocked_panel_add_diagnosis(view, state, &state->waits.verdicts[i]);
    blocked_panel_add_waits(view, state, false);
    blocked_panel_add_sleepers(view, state->list, ROWS_SHOWN);
    blocked_panel_add_waits(view, state, true);
}

/* Updates the durations, unless a row is selected or has the focus. */
static gboolean on_tick(gpointer data)
{
    struct view *view = data;
    struct blocked_panel *state = panel_state(view, &panel_waiting);
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(state->list));
    bool used = row || gtk_widget_get_focus_child(state->list);
    if (blocked_panel_is_shown(view) && !used && state->waits.now.live)
        blocked_panel_fill_list(view, state);
    notifier_emit(&view->notifier, NOTIFY_WAITS);
    return G_SOURCE_CONTINUE;
}

static void stop_tick(struct blocked_panel *state)
{
    g_clear_handle_id(&state->tick, g_source_remove);
}

/* ---- deadlocks in the diagram ---- */

/* Draws the deadlock; its legend requires another scene if it has changed. */
static void draw_cycles(struct view *view, const struct wait_list *waits)
{
    uint32_t count;
    struct event_id *pairs = wait_list_pairs(waits, &count);
    if (selection_relations_set_deadlock(&view->selection_relations, pairs, count))
        diagram_view_rebuild(view);
    free(pairs);
}

/* At a broken rule, a deadlock, or if threads will certainly never resume, the panel opens by
 * itself; again if what is known is worse. */
static void blocked_panel_open(struct view *view, struct blocked_panel *state)
{
    unsigned count;
    enum blocked_worst worst = blocked_panel_worst(view, &count);
    if (worst < BLOCKED_VIOLATION || worst <= state->opened_for)
        return;
    state->opened_for = worst;
    panel_show(view, panel_waiting.name);
    status_line_show(&view->status_line, "%s detected",
                     worst == BLOCKED_DEADLOCK    ? "Deadlock"
                     : worst == BLOCKED_VIOLATION ? "Rule violation"
                                                  : "Hang");
}

static void show_waits(struct view *view, struct blocked_panel *state)
{
    blocked_panel_fill_list(view, state);
    draw_cycles(view, &state->waits);
    stop_tick(state);
    if (state->waits.now.live && state->waits.count)
        state->tick = g_timeout_add(1000, on_tick, view);
    blocked_panel_open(view, state);
    notifier_emit(&view->notifier, NOTIFY_WAITS);
}

static void blocked_panel_on_violations(struct view *view)
{
    struct blocked_panel *state = panel_state(view, &panel_waiting);
    if (!violation_rows_count(&state->violations))
        return;
    blocked_panel_fill_list(view, state);
    blocked_panel_open(view, state);
    notifier_emit(&view->notifier, NOTIFY_WAITS);
}

static void blocked_panel_receive_waits(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct blocked_panel *state = panel_state(view, &panel_waiting);
    if (!wait_list_receive(&state->coming, answer))
        return;
    wait_list_free(&state->waits);
    state->waits = state->coming;
    state->coming = (struct wait_list){0};
    state->answered_us = g_get_monotonic_time();
    state->answered = true;
    show_waits(view, state);
}

static void blocked_panel_request_waits(struct view *view, struct blocked_panel *state)
{
    struct encoder body = {0};
    encode_u8(&body, 1);
    wait_list_free(&state->coming);
    state->asked_us = g_get_monotonic_time();
    request_slot_send(&view->server_link, &state->asked, REQUEST_WAITS, &body,
                      blocked_panel_receive_waits, view);
}

/* Returns whether another request is due while the run grows. */
static bool is_time(struct view *view, const struct blocked_panel *state)
{
    return !request_slot_is_running(&view->server_link, &state->asked) &&
           g_get_monotonic_time() - state->asked_us > ASKED_EVERY_US;
}

static void blocked_panel_on_notification(struct view *view, enum notification what)
{
    struct blocked_panel *state = panel_state(view, &panel_waiting);
    if (what == NOTIFY_TAB_SHOWN || what == NOTIFY_QUIET || what == NOTIFY_RUN_UPDATED)
        violation_rows_request(&state->violations, what == NOTIFY_RUN_UPDATED);
    if (what == NOTIFY_TAB_SHOWN || what == NOTIFY_QUIET ||
        (what == NOTIFY_RUN_UPDATED && is_time(view, state)))
        blocked_panel_request_waits(view, state);
}

static void blocked_panel_clear_waits(struct view *view)
{
    struct blocked_panel *state = panel_state(view, &panel_waiting);
    wait_list_free(&state->waits);
    wait_list_free(&state->coming);
    stop_tick(state);
    violation_rows_clear(&state->violations);
    state->opened_for = BLOCKED_NONE;
    state->answered = false;
    state->asked_us = 0;
    selection_relations_set_deadlock(&view->selection_relations, NULL, 0);
    notifier_emit(&view->notifier, NOTIFY_WAITS);
}

const struct event_info *blocked_panel_oldest(struct view *view)
{
    const struct blocked_panel *state = panel_state(view, &panel_waiting);
    return state->waits.count ? &state->waits.items[0].event : NULL;
}

/* Returns whether no traced thread can still wake them; for a moment this may be the case in any
 * program. */
static bool seems_hung(const struct blocked_panel *state, const struct trace_time_info *now)
{
    bool quiet = !now->live || now->now_ns - now->last_ns >= SHORT_NS;
    for (size_t i = 0; quiet && i < state->waits.verdict_count; i++) {
        const struct diagnosis_info *v = &state->waits.verdicts[i];
        if (v->fate == OUTCOME_POSSIBLE && !(v->doubts & UNCERTAIN_RUNS))
            return true;
    }
    return false;
}

enum blocked_worst blocked_panel_worst(struct view *view, unsigned *count)
{
    const struct blocked_panel *state = panel_state(view, &panel_waiting);
    struct trace_time_info now = now_of(state);
    bool never = false;
    *count = 0;
    for (size_t i = 0; i < state->waits.count; i++) {
        const struct wait_info *w = &state->waits.items[i];
        never |= w->fate == OUTCOME_NEVER;
        *count += !w->at_exit && blocked_panel_is_long(&now, w->since_ns);
    }
    bool deadlock = wait_list_has_deadlock(&state->waits);
    if (deadlock || never)
        return deadlock ? BLOCKED_DEADLOCK : BLOCKED_HANG;
    if (violation_rows_count(&state->violations))
        return BLOCKED_VIOLATION;
    if (seems_hung(state, &now) || *count)
        return seems_hung(state, &now) ? BLOCKED_LIKELY_HANG : BLOCKED_SOME;
    *count = blocked_panel_asleep(view);
    return *count ? BLOCKED_ASLEEP : BLOCKED_NONE;
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct blocked_panel *state = data;
    (void)widget;
    stop_tick(state);
    wait_list_free(&state->waits);
    wait_list_free(&state->coming);
    violation_rows_clear(&state->violations);
}

static GtkWidget *blocked_panel_create(struct view *view)
{
    struct blocked_panel *state = g_new0(struct blocked_panel, 1);
    state->violations =
        (struct violation_rows){.view = view, .on_change = blocked_panel_on_violations};
    panel_keep(view, &panel_waiting, state);
    GtkWidget *page =
        row_list_new(view, &state->list, "No thread is blocked at the end of the trace.");
    g_signal_connect(page, "destroy", G_CALLBACK(on_destroy), state);
    return page;
}

const struct panel panel_waiting = {"waiting", "Blocked", blocked_panel_create,
                                    blocked_panel_on_notification, blocked_panel_clear_waits};

/* The panel of the selected event: its details, its relations to all others, and to a second
 * event. */
#include "clients/viewer/sidebar/panel.h"

#include "clients/connection/result_table.h"
#include "clients/connection/view_state.h"
#include "clients/metadata/event_text.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/sidebar/event_details.h"
#include "clients/viewer/sidebar/key_findings.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/legend.h"
#include "render/scene.h"
#include "wire/event_types.h"
#include "wire/query_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdlib.h>

/* ---- relations to other events, as markup that the caller frees ---- */

#define TYPES_SHOWN 8u

/* The numbers of an incomplete count are lower bounds. */
static char *relations_counts_text(const struct relation_counts *c, bool counting)
{
    const char *least = c->whole ? "" : "at least ";
    GString *s = g_string_new(NULL);
    g_string_append_printf(s,
                           "<span foreground=\"#0072B2\">◀ past %s%'llu</span>   "
                           "<span foreground=\"#D55E00\">future %s%'llu ▶</span>",
                           least, (unsigned long long)c->before, least,
                           (unsigned long long)c->after);
    if (c->whole || c->concurrent)
        g_string_append_printf(s, "\nconcurrent %s%'llu", least, (unsigned long long)c->concurrent);
    if (c->unknown)
        g_string_append_printf(s, "   <span foreground=\"#007E5A\">unknown %s%'llu</span>", least,
                               (unsigned long long)c->unknown);
    if (c->whole && c->same > 1)
        g_string_append(s, ", simultaneous with its partner");
    if (counting)
        g_string_append(s, "\n<small>counting…</small>");
    return g_string_free(s, FALSE);
}

static void relations_append_type(GString *s, struct view *view, const struct type_count *kind,
                                  bool first)
{
    char *type = g_markup_escape_text(metadata_type_name(view_metadata(view), kind->type), -1);
    g_string_append_printf(s, "%s%'llu %s", first ? "" : ", ", (unsigned long long)kind->events,
                           type);
    g_free(type);
}

static int relations_compare_events(const void *a, const void *b)
{
    const struct type_count *x = a, *y = b;
    return x->events != y->events ? (x->events < y->events ? 1 : -1)
                                  : (x->type > y->type) - (x->type < y->type);
}

/* Appends the time and the events between them, by type, the most frequent first. */
static void relations_append_between(struct view *view, GString *s)
{
    struct between_info *span = &view->selection_relations.span;
    const struct view_state *p = &view->viewport.place;
    if (!span->known || !event_id_equal(span->from, p->selected) ||
        !event_id_equal(span->to, p->second))
        return;
    char time[32];
    duration_text(time, sizeof time, span->ns);
    g_string_append_printf(s, "\n%s %s; %s%'llu events in between (trace order)", time,
                           span->ns < 0 ? "earlier" : "later", span->whole ? "" : "at least ",
                           (unsigned long long)span->events);
    if (span->kind_count)
        qsort(span->kinds, span->kind_count, sizeof *span->kinds, relations_compare_events);
    g_string_append(s, span->kind_count ? "\n<small>" : "");
    for (uint32_t i = 0; i < span->kind_count && i < TYPES_SHOWN; i++)
        relations_append_type(s, view, &span->kinds[i], i == 0);
    if (span->kind_count > TYPES_SHOWN)
        g_string_append_printf(s, ", and %u other types", span->kind_count - TYPES_SHOWN);
    g_string_append(s, span->kind_count ? "</small>" : "");
}

static void relations_append_chain(struct view *view, GString *s)
{
    const struct selection_relations *r = &view->selection_relations;
    for (uint32_t i = 0; i < r->chain_count; i++) {
        const struct event_info *e = &r->events[i];
        if (e->at.line & HIDDEN_LINE)
            continue;
        char *type = g_markup_escape_text(metadata_type_name(view_metadata(view), e->type), -1);
        g_string_append(s, i ? "\n→ " : "\n\n");
        event_details_append_link(s, view_metadata(view), e->at);
        if (e->type)
            g_string_append_printf(s, " %s", type);
        g_free(type);
    }
}

/* Appends why the order is unknown, or what else may order concurrent events. */
static void relations_append_reasons(const struct view *view, GString *s)
{
    bool known = view->selection_relations.related != ORDER_UNKNOWN;
    if (view->selection_relations.related < 0)
        return;
    for (unsigned reason = 1; reason < 32; reason++)
        if (view->selection_relations.reasons & UNTRACED_BIT(reason))
            g_string_append_printf(s, "\n<small>%s%s</small>",
                                   known ? "considering traced synchronization: " : "",
                                   untraced_text(reason));
}

/* Returns the relation of the two selected events, what lies between them, and the causal chain;
 * NULL: there are not two. */
static char *relations_text(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    if (!p->second.line)
        return NULL;
    GString *s = g_string_new(NULL);
    int related = view->selection_relations.related;
    event_details_append_link(s, view_metadata(view), p->selected);
    g_string_append_printf(s, "\n<b>%s</b>\n",
                           related >= 0 && related < 5 ? legend_relation_verbs[related] : "…");
    event_details_append_link(s, view_metadata(view), p->second);
    relations_append_between(view, s);
    relations_append_reasons(view, s);
    relations_append_chain(view, s);
    return g_string_free(s, FALSE);
}

/* Buttons above the details; requests tell whether CAUSE and EFFECT have a target. */
enum { PARTNER, CAUSE, EFFECT, EDITOR, BUTTONS };

struct event_panel {
    struct event_details details;
    struct key_findings *findings; /* shown like the hint, while no event is selected */
    GtkWidget *hint, *counts, *count_on, *relation, *event_buttons;
    GtkWidget *buttons[BUTTONS];
    struct request_slot asked[BUTTONS]; /* only of CAUSE and EFFECT */
    struct event_id asked_of;
    guint idle;
};

static GtkWidget *new_label(struct view *view);

/* ---- targets of the buttons ---- */

static void event_panel_on_neighbor(struct event_panel *state, int button,
                                    const struct response_chunk *answer)
{
    struct search_result found;
    if (answer->part != RESPONSE_FOUND)
        return;
    decode_search_result(answer->in, &found);
    gtk_widget_set_sensitive(state->buttons[button], found.hit_count > 0);
    search_result_free(&found);
}

static void event_panel_on_cause(void *state, const struct response_chunk *answer)
{
    event_panel_on_neighbor(state, CAUSE, answer);
}

static void event_panel_on_effect(void *state, const struct response_chunk *answer)
{
    event_panel_on_neighbor(state, EFFECT, answer);
}

static void event_panel_request_neighbor(struct view *view, struct event_panel *state, int button,
                                         enum neighbor_step step, source_take *take)
{
    struct encoder body = {0};
    encode_event_id(&body, view->viewport.place.selected);
    encode_u8(&body, (uint8_t)step);
    request_slot_send(&view->server_link, &state->asked[button], REQUEST_NEIGHBOR, &body, take,
                      state);
}

static void update_buttons(struct view *view, struct event_panel *state, const struct event_info *e)
{
    struct event_id selected = view->viewport.place.selected;
    bool partner = e && e->partner_count && !(e->partners[0].line & HIDDEN_LINE);
    gtk_widget_set_sensitive(state->buttons[PARTNER], partner);
    gtk_widget_set_sensitive(state->buttons[EDITOR], e && e->site);
    if (event_id_equal(selected, state->asked_of))
        return;
    state->asked_of = selected;
    if (!selected.line)
        return;
    event_panel_request_neighbor(view, state, CAUSE, STEP_CAUSE, event_panel_on_cause);
    event_panel_request_neighbor(view, state, EFFECT, STEP_EFFECT, event_panel_on_effect);
}

static void event_panel_show_relation(struct view *view, struct event_panel *state);

/* Shows the parts that are about an event while one is selected; empty ones would take space. */
static void event_panel_show_parts(struct view *view, struct event_panel *state, bool selected)
{
    GtkWidget *parts[] = {state->event_buttons, state->details.head, state->details.grid,
                          gtk_widget_get_ancestor(state->details.source, GTK_TYPE_SCROLLED_WINDOW)};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        focus_set_visible(view, parts[i], selected);
    focus_set_visible(view, state->hint, !selected);
    key_findings_show(state->findings, !selected);
}

static void event_panel_refresh_details(struct view *view, struct event_panel *state)
{
    struct event_id selected = view->viewport.place.selected;
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, selected);
    event_panel_show_parts(view, state, selected.line != 0);
    if (e || !selected.line)
        event_details_clear(&state->details);
    if (e) {
        event_details_fill(&state->details, e);
        char *sentence = event_text(view_metadata(view), e);
        gtk_accessible_update_property(GTK_ACCESSIBLE(view->canvas),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, sentence, -1);
        g_free(sentence);
    }
    update_buttons(view, state, e);
    event_panel_show_relation(view, state);
}

static void event_panel_show_counts(struct view *view, struct event_panel *state)
{
    const struct relation_counts *c = &view->selection_relations.count;
    bool selected = view->viewport.place.selected.line != 0;
    bool known = selected && event_id_equal(c->at, view->viewport.place.selected);
    bool counting = view->selection_relations.counts_on;
    char *text = !selected  ? g_strdup("")
                 : !known   ? g_strdup("<small>counting…</small>")
                 : c->known ? relations_counts_text(c, counting)
                            : g_strdup("<small>not ordered</small>");
    gtk_label_set_markup(GTK_LABEL(state->counts), text);
    focus_set_visible(view, state->counts, *text != 0);
    gtk_button_set_label(GTK_BUTTON(state->count_on),
                         counting ? "Stop counting" : "Continue counting");
    focus_set_visible(view, state->count_on, known && c->known && !c->whole);
    g_free(text);
}

static void on_count_on(GtkButton *button, gpointer data)
{
    struct view *view = data;
    (void)button;
    if (view->selection_relations.counts_on)
        selection_relations_stop_count(&view->selection_relations);
    else
        selection_relations_count(&view->selection_relations, view->viewport.place.selected, true);
    event_panel_show_counts(view, panel_state(view, &panel_event));
}

static void event_panel_show_relation(struct view *view, struct event_panel *state)
{
    char *text = relations_text(view);
    event_panel_show_counts(view, state);
    focus_set_visible(view, state->relation, text != NULL);
    if (text)
        gtk_label_set_markup(GTK_LABEL(state->relation), text);
    g_free(text);
}

static gboolean on_idle(gpointer data)
{
    struct event_panel *state = panel_state(data, &panel_event);
    state->idle = 0;
    event_panel_refresh_details(data, state);
    return G_SOURCE_REMOVE;
}

/* Refreshes when idle, after the diagram: finding the source may take a while. */
static void refresh_later(struct view *view)
{
    struct event_panel *state = panel_state(view, &panel_event);
    if (!state->idle)
        state->idle = g_idle_add_full(G_PRIORITY_LOW, on_idle, view, NULL);
}

static void event_panel_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_SELECTION || what == NOTIFY_DIAGRAM || what == NOTIFY_WAIT_CAUSE)
        refresh_later(view);
    else if (what == NOTIFY_SELECTION_RELATIONS)
        event_panel_show_relation(view, panel_state(view, &panel_event));
    key_findings_notify(((struct event_panel *)panel_state(view, &panel_event))->findings, what);
}

static gboolean on_link(GtkLabel *label, const char *uri, gpointer data)
{
    struct event_id at;
    /* these tabs are in the analysis pane */
    if (g_str_has_prefix(uri, "function:"))
        return gtk_widget_activate_action(GTK_WIDGET(label), "win.calls-function", "s", uri + 9);
    if (g_str_has_prefix(uri, "line:"))
        return gtk_widget_activate_action(GTK_WIDGET(label), "win.line-details", "s", uri + 5);
    if (g_str_has_prefix(uri, "place:"))
        return gtk_widget_activate_action(GTK_WIDGET(label), "win.source-line", "s", uri + 6);
    if (!g_str_has_prefix(uri, "event:") || !event_id_parse(uri + 6, &at))
        return FALSE;
    struct view *view = data;
    struct event_id second = view->viewport.place.second, selected = view->viewport.place.selected;
    const struct scene_mark *m = scene_cache_find_mark(&view->scene_cache, at);
    if (second.line && m && viewport_sees(&view->viewport, m))
        return TRUE; /* visible already; the comparison stays */
    go_to_event(view, at, NO_POSITION);
    if (second.line) { /* shows it, and keeps the comparison */
        view->viewport.place.selected = selected;
        view->viewport.place.second = second;
        selection_relations_request(&view->selection_relations, view->viewport.place.selected,
                                    view->viewport.place.second);
        refresh_later(view);
    }
    return TRUE;
}

static GtkWidget *new_label(struct view *view)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_yalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_selectable(GTK_LABEL(label), TRUE);
    g_signal_connect(label, "activate-link", G_CALLBACK(on_link), view);
    return label;
}

/* Makes a widget scroll that is wider than the panel. */
static GtkWidget *scrolled_along(GtkWidget *widget)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_AUTOMATIC,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), widget);
    return scrolled;
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct event_panel *state = data;
    (void)widget;
    g_clear_handle_id(&state->idle, g_source_remove);
    event_details_forget(&state->details);
}

static void on_button(GtkButton *button, gpointer data)
{
    struct view *view = data;
    gtk_widget_activate_action(view->window, g_object_get_data(G_OBJECT(button), "does"), NULL);
}

/* Does not bind the button to its action, which would enable it whenever an event is selected. */
static GtkWidget *button_for(struct view *view, const char *const *words)
{
    GtkWidget *button = gtk_button_new_with_label(words[0]);
    g_object_set_data(G_OBJECT(button), "does", (gpointer)(uintptr_t)words[1]);
    gtk_widget_set_tooltip_text(button, words[2]);
    g_signal_connect(button, "clicked", G_CALLBACK(on_button), view);
    return button;
}

static GtkWidget *event_panel_create(struct view *view)
{
    static const char *const buttons[BUTTONS][3] = {
        {"Partner", "win.partner", "Go to partner event (Enter)"},
        {"Cause", "win.cause", "Go to nearest cause on another line ([)"},
        {"Effect", "win.effect", "Go to nearest effect on another line (])"},
        {"Editor", "win.editor", "Open source (Ctrl+E)"}};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10),
              *scrolled = gtk_scrolled_window_new();
    g_object_set(box, "margin-top", 8, "margin-bottom", 8, "margin-start", 10, "margin-end", 10,
                 NULL);
    struct event_panel *state = g_new0(struct event_panel, 1);
    state->details =
        (struct event_details){.view = view, .label = new_label, .changed = refresh_later};
    panel_keep(view, &panel_event, state);
    g_signal_connect(box, "destroy", G_CALLBACK(on_destroy), state);
    state->event_buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    for (size_t i = 0; i < G_N_ELEMENTS(buttons); i++)
        gtk_box_append(GTK_BOX(state->event_buttons),
                       state->buttons[i] = button_for(view, buttons[i]));
    state->counts = new_label(view);
    state->count_on = gtk_button_new_with_label("Continue counting");
    gtk_widget_set_halign(state->count_on, GTK_ALIGN_START);
    g_signal_connect(state->count_on, "clicked", G_CALLBACK(on_count_on), view);
    state->relation = new_label(view);
    state->details.head = new_label(view);
    state->details.source = new_label(view);
    gtk_label_set_wrap(GTK_LABEL(state->details.source), FALSE); /* source lines do not wrap */
    state->hint = new_label(view);
    gtk_label_set_selectable(GTK_LABEL(state->hint), FALSE); /* nor focusable */
    gtk_label_set_text(GTK_LABEL(state->hint),
                       "Click an event, or press an arrow key.\n\n"
                       "Ctrl+click a second event to see how the two are ordered.");
    state->details.grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(state->details.grid), 12);
    gtk_grid_set_row_spacing(GTK_GRID(state->details.grid), 4);
    GtkWidget *findings;
    state->findings = key_findings_new(view, &findings);
    GtkWidget *parts[] = {state->event_buttons,
                          state->details.head,
                          state->counts,
                          state->count_on,
                          state->relation,
                          state->details.grid,
                          scrolled_along(state->details.source),
                          findings,
                          state->hint};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        gtk_box_append(GTK_BOX(box), parts[i]);
    /* until the panel is refreshed: a live run that is busy may keep it waiting */
    event_panel_show_parts(view, state, false);
    gtk_widget_set_visible(state->counts, FALSE);
    gtk_widget_set_visible(state->count_on, FALSE);
    gtk_widget_set_visible(state->relation, FALSE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), box);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    return scrolled;
}

bool event_panel_is_busy(struct view *view)
{
    const struct event_panel *state = panel_state(view, &panel_event);
    return state && (state->idle || key_findings_is_busy(state->findings));
}

static void event_panel_clear_details(struct view *view)
{
    struct event_panel *state = panel_state(view, &panel_event);
    state->asked_of = (struct event_id){0, 0};
    event_details_forget(&state->details);
    event_details_clear(&state->details);
    key_findings_clear(state->findings);
}

const struct panel panel_event = {"event", "Event", event_panel_create, event_panel_on_notification,
                                  event_panel_clear_details};

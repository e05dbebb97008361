/* The panel of the selected event: what it is, how all others stand to it, and the way to a second one. */
#include "clients/book/book.h"
#include "clients/book/fate.h"
#include "clients/book/say.h"
#include "clients/site/site.h"
#include "clients/source/place.h"
#include "clients/source/table.h"
#include "clients/view/panels/code.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/panels/related.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/ties.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/reason.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/asked.h"
#include "wire/event.h"
#include "wire/found.h"
#include "wire/ref.h"
#include "wire/shown.h"

/* Buttons above it; whether there is anything for some of them to go to is asked for. */
enum { PARTNER, CAUSE, EFFECT, EDITOR, BUTTONS };

struct details {
    GtkWidget *head, *grid, *source, *hint, *counts, *count_on, *relation, *event_buttons;
    GtkWidget *buttons[BUTTONS];
    struct inquiry asked[BUTTONS]; /* is there a cause, an effect? */
    struct ref asked_of;
    int rows; /* of the grid */
    guint idle;
};

/* ---- words ---- */

static char *duration(int64_t ns)
{
    char s[32];
    fate_duration(s, sizeof s, ns);
    return g_strdup(s);
}

static GtkWidget *new_label(struct view *view);

/* A row of the page: what it is, and what it says, which is markup. */
static void add_markup(struct view *view, const char *name, const char *markup)
{
    struct details *state = panel_state(view, &panel_event);
    GtkWidget *left = gtk_label_new(name), *right = new_label(view);
    gtk_label_set_xalign(GTK_LABEL(left), 0);
    gtk_label_set_yalign(GTK_LABEL(left), 0);
    gtk_widget_add_css_class(left, "dim-label");
    gtk_label_set_markup(GTK_LABEL(right), markup);
    gtk_widget_set_hexpand(right, TRUE);
    gtk_grid_attach(GTK_GRID(state->grid), left, 0, state->rows, 1, 1);
    gtk_grid_attach(GTK_GRID(state->grid), right, 1, state->rows++, 1, 1);
}

static void add_field(struct view *view, const char *name, const char *value)
{
    char *v = g_markup_escape_text(value, -1);
    add_markup(view, name, v);
    g_free(v);
}

static void add_link(GString *s, const char *to, struct table_place place, const char *text)
{
    char *shown = g_markup_escape_text(text, -1);
    g_string_append_printf(s, "<a href=\"%s:%x:%llx\">%s</a>", to, place.process,
                           (unsigned long long)place.address, shown);
    g_free(shown);
}

/* A place of the code: a click shows its line in the drawer's page Source. */
static void add_place(GString *s, struct table_place place, const char *name)
{
    add_link(s, "place", place, name);
}

/* "f (file.c:12)": its name leads to the page Calls, its place to the page Source. */
static void add_function(GString *s, struct table_place place, const char *name)
{
    const char *where = strrchr(name, '(');
    if (!where || where == name) {
        add_link(s, "function", place, name);
        return;
    }
    char *function = g_strndup(name, (gsize)(where - name));
    add_link(s, "function", place, g_strchomp(function));
    g_string_append_c(s, ' ');
    add_link(s, "place", place, where);
    g_free(function);
}

/* By which calls it came to be made, where its thread measures them. */
static void add_calls(struct view *view, const struct shown_event *e)
{
    const struct table_names names = {the_book(view), view->link.sites};
    GString *s = g_string_new(NULL);
    for (uint32_t i = 0; i < e->call_count; i++) {
        struct table_place function = {e->process, e->calls[i]};
        char *name = table_say_place(&names, function, "");
        g_string_append(s, i ? "\n" : "");
        add_function(s, function, name);
        free(name);
    }
    if (s->len)
        add_markup(view, "Called by", s->str);
    g_string_free(s, TRUE);
}

#define REFS_SAID 20u

/* Lines that only collect what comes before are nothing to people. */
static void add_refs(struct view *view, const char *name, const struct ref *refs, uint32_t count)
{
    GString *s = g_string_new(NULL);
    uint32_t said = 0, seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (refs[i].line & HIDDEN_LINE)
            continue;
        if (seen++ >= REFS_SAID)
            continue;
        if (said++)
            g_string_append_c(s, '\n');
        related_link(s, the_book(view), refs[i]);
    }
    if (seen > said)
        g_string_append_printf(s, "\nand %u more", seen - said);
    if (said)
        add_markup(view, name, s->str);
    g_string_free(s, TRUE);
}

/* ---- the panel ---- */

static const char *partners_are(const struct shown_event *e)
{
    return e->relation == RELATION_RECEIVE ? "After the send"
           : e->relation == RELATION_SEND  ? "Before the receive"
                                           : "Together with";
}

/* "signals Q:more, at crawler.c:19, 3.71 ms" */
static void describe_head(struct view *view, struct details *state, const struct shown_event *e)
{
    const struct book *book = the_book(view);
    const struct target_event *look = book_look(book, e);
    GString *s = g_string_new(look ? look->text : book_type(book, e->type));
    uint32_t what = e->about ? e->about : e->partner_count ? e->partners[0].line : 0;
    if (what && !(what & HIDDEN_LINE))
        g_string_append_printf(s, " %s", book_label(book, what));
    if (e->unheard && look && look->unheard)
        g_string_append_printf(s, ", %s", look->unheard);
    char *time = duration(e->time_ns), *what_markup = g_markup_escape_text(s->str, -1);
    GString *markup = g_string_new(NULL);
    g_string_append_printf(markup, "<b>%s", what_markup);
    if (e->site) {
        struct site_is site = sites_call(view->link.sites, e->process, e->site);
        g_string_append(markup, ", at ");
        add_place(markup, (struct table_place){e->process, e->site}, site.place);
    }
    g_string_append_printf(markup, ", %s%s</b>", time, say_state(e));
    gtk_label_set_markup(GTK_LABEL(state->head), markup->str);
    g_string_free(markup, TRUE);
    g_free(what_markup);
    g_free(time);
    g_string_free(s, TRUE);
}

static void describe_times(struct view *view, const struct shown_event *e)
{
    char *exact = g_strdup_printf("%.9g s", (double)e->time_ns / 1e9);
    add_field(view, "Time", exact);
    if (e->waited_ns > 0) {
        char *waited = duration(e->waited_ns);
        char *who = g_strdup_printf("%s, by %s", waited, book_label(the_book(view), e->thread));
        const char *why = reason_said(view, &e->at);
        add_field(view, "Waited", who);
        if (why)
            add_field(view, "Why", why);
        g_free(waited);
        g_free(who);
    }
    if (e->since_ns > 0) {
        char *since = duration(e->since_ns);
        char *text = g_strdup_printf("%s since the event before it on its line", since);
        add_field(view, "Gap", text);
        g_free(since);
        g_free(text);
    }
    g_free(exact);
}

static void describe(struct view *view, struct details *state, const struct shown_event *e)
{
    const struct book *book = the_book(view);
    char at[48];
    ref_print(at, sizeof at, e->at);
    describe_head(view, state, e);
    char *type = g_strdup_printf("%s, %s", book_type(book, e->type), at);
    add_field(view, "Event", type);
    add_field(view, "Line", book_label(book, e->at.line));
    if (e->thread && e->thread != e->at.line)
        add_field(view, "By", book_label(book, e->thread));
    if (e->about)
        add_field(view, "About", book_label(book, e->about));
    describe_times(view, e);
    add_refs(view, partners_are(e), e->partners, e->partner_count);
    if (e->partner_lost)
        add_field(view, "Partner", "lost");
    add_refs(view, "After", e->after, e->after_count);
    if (e->fold) {
        char *fold = g_strdup_printf("%u such visits", e->fold);
        add_field(view, "Stands for", fold);
        g_free(fold);
    }
    for (uint32_t i = 0; i < e->text_count; i++)
        add_field(view, "Text", e->texts[i]);
    GString *source = g_string_new(NULL);
    if (e->site) {
        struct site_is site = sites_call(view->link.sites, e->process, e->site);
        if (*site.function)
            add_field(view, "Function", site.function);
        add_calls(view, e);
        code_around(source, &site);
    }
    gtk_label_set_markup(GTK_LABEL(state->source), source->str);
    g_string_free(source, TRUE);
    g_free(type);
}

static void empty_grid(struct details *state)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(state->grid)))
        gtk_grid_remove(GTK_GRID(state->grid), child);
    state->rows = 0;
    gtk_label_set_text(GTK_LABEL(state->head), "");
    gtk_label_set_text(GTK_LABEL(state->source), "");
}

/* ---- is there anything to go to? ---- */

static void take_found(struct details *state, int button, const struct answer *answer)
{
    struct shown_found found;
    if (answer->part != PART_FOUND)
        return;
    get_found(answer->in, &found);
    gtk_widget_set_sensitive(state->buttons[button], found.hit_count > 0);
    shown_found_free(&found);
}

static void take_cause(void *state, const struct answer *answer)
{
    take_found(state, CAUSE, answer);
}

static void take_effect(void *state, const struct answer *answer)
{
    take_found(state, EFFECT, answer);
}

static void ask_step(struct view *view, struct details *state, int button, enum asked_step step,
                     source_take *take)
{
    struct out body = {0};
    put_ref(&body, view->camera.place.selected);
    put_u8(&body, (uint8_t)step);
    inquiry_ask(&view->link, &state->asked[button], ASK_STEP, &body, take, state);
}

static void update_buttons(struct view *view, struct details *state, const struct shown_event *e)
{
    struct ref selected = view->camera.place.selected;
    bool partner = e && e->partner_count && !(e->partners[0].line & HIDDEN_LINE);
    gtk_widget_set_visible(state->event_buttons, selected.line != 0);
    gtk_widget_set_sensitive(state->buttons[PARTNER], partner);
    gtk_widget_set_sensitive(state->buttons[EDITOR], e && e->site);
    if (ref_equal(selected, state->asked_of))
        return;
    state->asked_of = selected;
    if (!selected.line)
        return;
    ask_step(view, state, CAUSE, STEP_CAUSE, take_cause);
    ask_step(view, state, EFFECT, STEP_EFFECT, take_effect);
}

static void tell_relation(struct view *view, struct details *state);

static void refresh(struct view *view, struct details *state)
{
    struct ref selected = view->camera.place.selected;
    const struct shown_event *e = stage_event(&view->stage, selected);
    gtk_widget_set_visible(state->hint, !selected.line);
    if (e || !selected.line)
        empty_grid(state);
    if (e) {
        describe(view, state, e);
        char *said = say_event(the_book(view), e);
        gtk_accessible_update_property(GTK_ACCESSIBLE(view->canvas),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, said, -1);
        g_free(said);
    }
    update_buttons(view, state, e);
    tell_relation(view, state);
}

static void tell_counts(struct view *view, struct details *state)
{
    const struct shown_count *c = &view->ties.count;
    bool selected = view->camera.place.selected.line != 0;
    bool known = selected && ref_equal(c->at, view->camera.place.selected);
    bool counting = view->ties.counts_on;
    char *text = !selected  ? g_strdup("")
                 : !known   ? g_strdup("<small>counting…</small>")
                 : c->known ? related_counts(c, counting)
                            : g_strdup("<small>not in the order</small>");
    gtk_label_set_markup(GTK_LABEL(state->counts), text);
    gtk_widget_set_visible(state->counts, *text != 0);
    gtk_button_set_label(GTK_BUTTON(state->count_on), counting ? "Stop counting" : "Count on");
    gtk_widget_set_visible(state->count_on, known && c->known && !c->whole);
    g_free(text);
}

static void on_count_on(GtkButton *button, gpointer data)
{
    struct view *view = data;
    (void)button;
    if (view->ties.counts_on)
        ties_count_stop(&view->ties);
    else
        ties_count(&view->ties, view->camera.place.selected, true);
    tell_counts(view, panel_state(view, &panel_event));
}

static void tell_relation(struct view *view, struct details *state)
{
    char *text = related_text(view);
    tell_counts(view, state);
    gtk_widget_set_visible(state->relation, text != NULL);
    if (text)
        gtk_label_set_markup(GTK_LABEL(state->relation), text);
    g_free(text);
}

static gboolean on_idle(gpointer data)
{
    struct details *state = panel_state(data, &panel_event);
    state->idle = 0;
    refresh(data, state);
    return G_SOURCE_REMOVE;
}

/* The picture comes first: to look up a source may take a while. */
static void refresh_later(struct view *view)
{
    struct details *state = panel_state(view, &panel_event);
    if (!state->idle)
        state->idle = g_idle_add_full(G_PRIORITY_LOW, on_idle, view, NULL);
}

static void take(struct view *view, enum news news)
{
    if (news == NEWS_SELECTED || news == NEWS_PICTURE || news == NEWS_REASON)
        refresh_later(view);
    else if (news == NEWS_RELATED)
        tell_relation(view, panel_state(view, &panel_event));
}

static gboolean on_link(GtkLabel *label, const char *uri, gpointer data)
{
    struct ref at;
    /* These pages are the drawer's. */
    if (g_str_has_prefix(uri, "function:"))
        return gtk_widget_activate_action(GTK_WIDGET(label), "win.calls-function", "s", uri + 9);
    if (g_str_has_prefix(uri, "place:"))
        return gtk_widget_activate_action(GTK_WIDGET(label), "win.source-line", "s", uri + 6);
    if (!g_str_has_prefix(uri, "event:") || !ref_parse(uri + 6, &at))
        return FALSE;
    struct view *view = data;
    struct ref second = view->camera.place.second, selected = view->camera.place.selected;
    const struct scene_mark *m = stage_mark(&view->stage, at);
    if (second.line && m && camera_sees(&view->camera, m))
        return TRUE; /* it is seen already, and the question stays */
    jump_to_event(view, at, NO_POSITION);
    if (second.line) { /* look at it, but go on asking */
        view->camera.place.selected = selected;
        view->camera.place.second = second;
        ties_ask(&view->ties, view->camera.place.selected, view->camera.place.second);
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

/* What is wider than the panel is scrolled, not wrapped. */
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
    struct details *state = data;
    (void)widget;
    if (state->idle)
        g_source_remove(state->idle);
    state->idle = 0;
}

static void on_button(GtkButton *button, gpointer data)
{
    struct view *view = data;
    gtk_widget_activate_action(view->window, g_object_get_data(G_OBJECT(button), "does"), NULL);
}

/* Not tied to its action, which would make it sensitive whenever an event is selected. */
static GtkWidget *button_for(struct view *view, const char *const *words)
{
    GtkWidget *button = gtk_button_new_with_label(words[0]);
    g_object_set_data(G_OBJECT(button), "does", (gpointer)(uintptr_t)words[1]);
    gtk_widget_set_tooltip_text(button, words[2]);
    g_signal_connect(button, "clicked", G_CALLBACK(on_button), view);
    return button;
}

static GtkWidget *build(struct view *view)
{
    static const char *const buttons[BUTTONS][3] = {
        {"Partner", "win.partner", "Select its partner (Enter)"},
        {"Cause", "win.cause", "The nearest cause on another line ([)"},
        {"Effect", "win.effect", "The nearest effect on another line (])"},
        {"Editor", "win.editor", "Open its source (Ctrl+E)"}};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 10),
              *scrolled = gtk_scrolled_window_new();
    g_object_set(box, "margin-top", 8, "margin-bottom", 8, "margin-start", 10, "margin-end", 10,
                 NULL);
    struct details *state = g_new0(struct details, 1);
    panel_keep(view, &panel_event, state);
    g_signal_connect(box, "destroy", G_CALLBACK(on_destroy), state);
    state->event_buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    for (size_t i = 0; i < G_N_ELEMENTS(buttons); i++)
        gtk_box_append(GTK_BOX(state->event_buttons),
                       state->buttons[i] = button_for(view, buttons[i]));
    state->counts = new_label(view);
    state->count_on = gtk_button_new_with_label("Count on");
    gtk_widget_set_halign(state->count_on, GTK_ALIGN_START);
    g_signal_connect(state->count_on, "clicked", G_CALLBACK(on_count_on), view);
    state->relation = new_label(view);
    state->head = new_label(view);
    state->source = new_label(view);
    gtk_label_set_wrap(GTK_LABEL(state->source), FALSE); /* its lines are lines */
    state->hint = new_label(view);
    gtk_label_set_text(GTK_LABEL(state->hint),
                       "Click an event, or press an arrow key.\n\n"
                       "Ctrl+click a second one to see what ties them together.");
    state->grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(state->grid), 12);
    gtk_grid_set_row_spacing(GTK_GRID(state->grid), 4);
    GtkWidget *parts[] = {state->event_buttons,
                          state->head,
                          state->counts,
                          state->count_on,
                          state->relation,
                          state->grid,
                          scrolled_along(state->source),
                          state->hint};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        gtk_box_append(GTK_BOX(box), parts[i]);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), box);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    return scrolled;
}

static void clear(struct view *view)
{
    struct details *state = panel_state(view, &panel_event);
    state->asked_of = (struct ref){0, 0};
    empty_grid(state);
}

const struct panel panel_event = {"event", "Event", build, take, clear};

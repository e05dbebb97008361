/* What it is, how all others stand to it, and the way to a second one. */
#include "clients/view/panels/event.h"

#include "clients/book/book.h"
#include "clients/book/say.h"
#include "clients/site/regular.h"
#include "clients/site/site.h"
#include "clients/source/place.h"
#include "clients/view/panels/panel.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/ties.h"
#include "clients/view/picture/hover.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/event.h"
#include "wire/found.h"
#include "wire/shown.h"
#include "wire/unseen.h"

#include <stdlib.h>
#include <string.h>

struct details {
    GtkWidget *details, *counts, *relation, *event_buttons;
    guint idle;
};

/* ---- words ---- */

static char *duration(int64_t ns)
{
    char s[32];
    scene_duration(ns, s, sizeof s);
    return g_strdup(s);
}

/* "&lt;a href="event:2:17"&gt;2:17&lt;/a&gt; T:producer" */
static void append_link(GString *s, const struct book *book, struct ref at)
{
    char text[48];
    ref_print(text, sizeof text, at);
    char *label = g_markup_escape_text(at.line & HIDDEN_LINE ? "" : book_label(book, at.line), -1);
    if (at.line & HIDDEN_LINE)
        g_string_append(s, text);
    else
        g_string_append_printf(s, "<a href=\"event:%s\">%s</a> %s", text, text, label);
    g_free(label);
}

static void add_field(GString *s, const char *name, const char *value)
{
    char *v = g_markup_escape_text(value, -1);
    g_string_append_printf(s, "<small>%s</small>\n%s\n", name, v);
    g_free(v);
}

static void add_refs(GString *s, const struct book *book, const char *name, const struct ref *refs,
                     uint32_t count)
{
    if (!count)
        return;
    g_string_append_printf(s, "<small>%s</small>\n", name);
    for (uint32_t i = 0; i < count && i < 20; i++) {
        append_link(s, book, refs[i]);
        g_string_append_c(s, '\n');
    }
    if (count > 20)
        g_string_append_printf(s, "and %u more\n", count - 20);
}

/* ---- its source ---- */

#define LINES_AROUND 3
#define SOURCE_BYTES (8u << 20)

static char *source_path(const struct site_is *site)
{
    if (*site->path && g_file_test(site->path, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename(site->path,
                                       NULL); /* "-x" would be an option of the editor's */
    char *name = g_path_get_basename(site->path);
    bool here = *site->path && g_file_test(name, G_FILE_TEST_IS_REGULAR);
    char *path = here ? g_canonicalize_filename(name, NULL) : NULL;
    g_free(name);
    return path;
}

static void add_source(GString *s, const struct site_is *site)
{
    char *path = source_path(site);
    char *text = path && site->line > 0 ? regular_read(path, SOURCE_BYTES, NULL) : NULL;
    if (!text) {
        g_free(path);
        return;
    }
    char **lines = g_strsplit(text, "\n", site->line + LINES_AROUND + 1);
    int count = (int)g_strv_length(lines);
    g_string_append(s, "<tt><small>");
    for (int i = MAX(site->line - LINES_AROUND, 1); i <= site->line + LINES_AROUND && i <= count;
         i++) {
        char *valid = g_utf8_make_valid(lines[i - 1], -1), *line = g_markup_escape_text(valid, -1);
        g_string_append_printf(s, i == site->line ? "<b>%4d %s</b>\n" : "%4d %s\n", i, line);
        g_free(line);
        g_free(valid);
    }
    g_string_append(s, "</small></tt>\n");
    g_strfreev(lines);
    free(text);
    g_free(path);
}

void event_edit(struct view *view)
{
    const struct shown_event *e = stage_event(&view->stage, view->camera.place.selected);
    if (!e || !e->site) {
        status_say(&view->status, "The selected event has no call site");
        return;
    }
    struct site_is site = sites_call(view->link.sites, e->process, e->site);
    char *path = source_path(&site);
    const char *editor = view->settings.editor && *view->settings.editor ? view->settings.editor
                         : g_getenv("VISUAL")                            ? g_getenv("VISUAL")
                                                                         : g_getenv("EDITOR");
    GError *error = NULL;
    if (!path) {
        status_say(&view->status, "%s: its source is not here", site.place);
    } else if (!editor) {
        char *uri = g_filename_to_uri(path, NULL, NULL);
        gtk_show_uri(GTK_WINDOW(view->window), uri, GDK_CURRENT_TIME);
        g_free(uri);
    } else { /* +LINE is what vi, emacs, nano, gedit and others understand */
        char *quoted = g_shell_quote(path);
        char *command = g_strdup_printf("%s +%d %s", editor, site.line, quoted);
        if (!g_spawn_command_line_async(command, &error))
            status_say(&view->status, "%s: %s", editor, error->message);
        g_clear_error(&error);
        g_free(command);
        g_free(quoted);
    }
    g_free(path);
}

/* ---- the panel ---- */

static void describe(struct view *view, GString *s, const struct shown_event *e)
{
    const struct book *book = the_book(view);
    const struct target_event *look = book_look(book, e);
    char at[48], *time = duration(e->time_ns);
    ref_print(at, sizeof at, e->at);
    char *type = g_strdup_printf("%s%s", book_type(book, e->type), say_state(e));
    add_field(s, "Type", type);
    if (look && strcmp(look->text, book_type(book, e->type)) != 0)
        add_field(s, "Meaning", look->text);
    char *line = g_strdup_printf("%s, event %s", book_label(book, e->at.line), at);
    add_field(s, "Line", line);
    add_field(s, "Time", time);
    if (e->since_ns > 0) {
        char *since = duration(e->since_ns);
        add_field(s, hover_since(&view->stage, e), since);
        g_free(since);
    }
    add_refs(s, book,
             e->relation == RELATION_RECEIVE ? "After the send"
             : e->relation == RELATION_SEND  ? "Before the receive"
                                             : "Together with",
             e->partners, e->partner_count);
    if (e->partner_lost)
        add_field(s, "Partner", "lost");
    add_refs(s, book, "After", e->after, e->after_count);
    if (e->about)
        add_field(s, "About", book_label(book, e->about));
    if (e->thread && e->thread != e->at.line)
        add_field(s, "By", book_label(book, e->thread));
    if (e->fold) {
        char *fold = g_strdup_printf("%u like visits", e->fold);
        add_field(s, "Stands for", fold);
        g_free(fold);
    }
    for (uint32_t i = 0; i < e->text_count; i++)
        add_field(s, "Text", e->texts[i]);
    if (e->site) {
        struct site_is site = sites_call(view->link.sites, e->process, e->site);
        char *where =
            g_strdup_printf("%s%s%s", site.function, *site.function ? ", " : "", site.place);
        add_field(s, "Called from", where);
        add_source(s, &site);
        g_free(where);
    }
    g_free(type);
    g_free(line);
    g_free(time);
}

static void tell_relation(struct view *view, struct details *state);

static void refresh(struct view *view, struct details *state)
{
    struct ref selected = view->camera.place.selected;
    const struct shown_event *e = stage_event(&view->stage, selected);
    if (!selected.line) {
        gtk_label_set_text(GTK_LABEL(state->details),
                           "Click an event, or press an arrow key.\n\n"
                           "Ctrl+click a second one to see what ties them together.");
    } else if (e) {
        GString *s = g_string_new(NULL);
        describe(view, s, e);
        gtk_label_set_markup(GTK_LABEL(state->details), s->str);
        g_string_free(s, TRUE);
        char *said = say_event(the_book(view), e);
        gtk_accessible_update_property(GTK_ACCESSIBLE(view->canvas),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, said, -1);
        status_say(&view->status, "%s", said);
        g_free(said);
    }
    gtk_widget_set_visible(state->event_buttons, selected.line != 0);
    tell_relation(view, state);
}

static void tell_counts(struct view *view, struct details *state)
{
    const struct shown_count *c = &view->ties.count;
    bool known = view->camera.place.selected.line && ref_equal(c->at, view->camera.place.selected);
    char *unknown = c->unknown
                        ? g_strdup_printf("   <span foreground=\"#007E5A\">%'llu not known</span>",
                                          (unsigned long long)c->unknown)
                        : g_strdup("");
    char *text = !view->camera.place.selected.line ? g_strdup("")
                 : !known                          ? g_strdup("<small>counting…</small>")
                 : !c->known
                     ? g_strdup("<small>not in the order</small>")
                     : g_strdup_printf("<span foreground=\"#0072B2\">◀ %'llu before</span>   "
                                       "<span foreground=\"#D55E00\">%'llu after ▶</span>\n"
                                       "%'llu concurrent%s%s",
                                       (unsigned long long)c->before, (unsigned long long)c->after,
                                       (unsigned long long)c->concurrent, unknown,
                                       c->same > 1 ? ", and its partner is the same point" : "");
    g_free(unknown);
    gtk_label_set_markup(GTK_LABEL(state->counts), text);
    gtk_widget_set_visible(state->counts, *text != 0);
    g_free(text);
}

static void tell_chain(struct view *view, GString *s)
{
    const struct ties *r = &view->ties;
    for (uint32_t i = 0; i < r->chain_count; i++) {
        const struct shown_event *e = &r->events[i];
        char *type = g_markup_escape_text(book_type(the_book(view), e->type), -1);
        g_string_append(s, i ? "\n→ " : "\n\n");
        append_link(s, the_book(view), e->at);
        if (e->type)
            g_string_append_printf(s, " %s", type);
        g_free(type);
    }
}

/* Why it is not known, or what else may order what is concurrent. */
static void tell_reasons(const struct view *view, GString *s)
{
    bool known = view->ties.related != ORDER_UNKNOWN;
    if (view->ties.related < 0)
        return;
    for (unsigned reason = 1; reason < 32; reason++)
        if (view->ties.reasons & UNSEEN_BIT(reason))
            g_string_append_printf(s, "\n<small>%s%s</small>", known ? "as far as is seen: " : "",
                                   unseen_text(reason));
}

static void tell_relation(struct view *view, struct details *state)
{
    static const char *const words[] = {"is before", "is after", "is concurrent with",
                                        "is the same point as", "may stand either way to"};
    const struct place *p = &view->camera.place;
    tell_counts(view, state);
    gtk_widget_set_visible(state->relation, p->second.line != 0);
    if (!p->second.line)
        return;
    GString *s = g_string_new(NULL);
    int related = view->ties.related;
    append_link(s, the_book(view), p->selected);
    g_string_append_printf(s, "\n<b>%s</b>\n", related >= 0 && related < 5 ? words[related] : "…");
    append_link(s, the_book(view), p->second);
    tell_reasons(view, s);
    tell_chain(view, s);
    gtk_label_set_markup(GTK_LABEL(state->relation), s->str);
    g_string_free(s, TRUE);
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
    if (news == NEWS_SELECTED || news == NEWS_PICTURE)
        refresh_later(view);
    else if (news == NEWS_RELATED)
        tell_relation(view, panel_state(view, &panel_event));
}

static gboolean on_link(GtkLabel *label, const char *uri, gpointer data)
{
    struct ref at;
    (void)label;
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

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct details *state = data;
    (void)widget;
    if (state->idle)
        g_source_remove(state->idle);
    state->idle = 0;
}

static GtkWidget *build(struct view *view)
{
    static const char *const buttons[][3] = {
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
    for (size_t i = 0; i < G_N_ELEMENTS(buttons); i++) {
        GtkWidget *button = gtk_button_new_with_label(buttons[i][0]);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), buttons[i][1]);
        gtk_widget_set_tooltip_text(button, buttons[i][2]);
        gtk_box_append(GTK_BOX(state->event_buttons), button);
    }
    state->counts = new_label(view);
    state->relation = new_label(view);
    state->details = new_label(view);
    gtk_box_append(GTK_BOX(box), state->event_buttons);
    gtk_box_append(GTK_BOX(box), state->counts);
    gtk_box_append(GTK_BOX(box), state->relation);
    gtk_box_append(GTK_BOX(box), state->details);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), box);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    return scrolled;
}

const struct panel panel_event = {"event", "Event", build, take, NULL};

#include "clients/viewer/sidebar/event_details.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/metadata/hang_text.h"
#include "clients/metadata/event_text.h"
#include "clients/symbols/symbolizer.h"
#include "clients/connection/result_table.h"
#include "clients/viewer/diagram/source_code.h"
#include "clients/viewer/sidebar/event_relations.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/event_types.h"
#include "wire/event_id.h"

/* ---- fields and links ---- */

static char *event_details_duration_text(int64_t ns)
{
    char s[32];
    duration_text(s, sizeof s, ns);
    return g_strdup(s);
}

/* Adds a row: a name, and a value in markup. */
static void add_markup(struct event_details *d, const char *name, const char *markup)
{
    GtkWidget *left = gtk_label_new(name), *right = d->label(d->view);
    gtk_label_set_xalign(GTK_LABEL(left), 0);
    gtk_label_set_yalign(GTK_LABEL(left), 0);
    gtk_widget_add_css_class(left, "dim-label");
    gtk_label_set_markup(GTK_LABEL(right), markup);
    gtk_widget_set_hexpand(right, TRUE);
    gtk_grid_attach(GTK_GRID(d->grid), left, 0, d->rows, 1, 1);
    gtk_grid_attach(GTK_GRID(d->grid), right, 1, d->rows++, 1, 1);
}

static void add_field(struct event_details *d, const char *name, const char *value)
{
    char *v = g_markup_escape_text(value, -1);
    add_markup(d, name, v);
    g_free(v);
}

static void add_link(GString *s, const char *to, struct table_place place, const char *text)
{
    char *shown = g_markup_escape_text(text, -1);
    g_string_append_printf(s, "<a href=\"%s:%x:%llx\">%s</a>", to, place.process,
                           (unsigned long long)place.address, shown);
    g_free(shown);
}

/* Adds a call site; a click shows its line in the tab Source. */
static void add_place(GString *s, struct table_place place, const char *name)
{
    add_link(s, "place", place, name);
}

/* Adds "f (file.c:12)": the name links to the tab Profile, the place to the tab Source. */
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

/* Adds the calls that led to the event, if they are measured. */
static void add_calls(struct event_details *d, const struct event_info *e)
{
    const struct table_names names = {view_metadata(d->view), d->view->server_link.sites};
    GString *s = g_string_new(NULL);
    for (uint32_t i = 0; i < e->call_count; i++) {
        struct table_place function = {e->process, e->calls[i]};
        char *name = result_table_place_text(&names, function, "");
        g_string_append(s, i ? "\n" : "");
        add_function(s, function, name);
        free(name);
    }
    if (s->len)
        add_markup(d, "Called by", s->str);
    g_string_free(s, TRUE);
}

#define REFS_SHOWN 20u

/* Adds links to events, except on hidden lines. */
static void add_refs(struct event_details *d, const char *name, const struct event_id *refs,
                     uint32_t count)
{
    GString *s = g_string_new(NULL);
    uint32_t shown = 0, seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (refs[i].line & HIDDEN_LINE)
            continue;
        if (seen++ >= REFS_SHOWN)
            continue;
        if (shown++)
            g_string_append_c(s, '\n');
        event_relations_append_link(s, view_metadata(d->view), refs[i]);
    }
    if (seen > shown)
        g_string_append_printf(s, "\nand %u more", seen - shown);
    if (shown)
        add_markup(d, name, s->str);
    g_string_free(s, TRUE);
}

/* ---- all fields ---- */

static const char *partners_are(const struct event_info *e)
{
    return e->relation == RELATION_RECEIVE ? "Send"
           : e->relation == RELATION_SEND  ? "Receives"
                                           : "Simultaneous with";
}

/* Shows "signals CV:more, at crawler.c:19, 3.71 ms". */
static void describe_head(struct event_details *d, const struct event_info *e)
{
    const struct trace_metadata *book = view_metadata(d->view);
    const struct target_event *look = event_style(book, e);
    GString *s = g_string_new(look ? look->text : metadata_type_name(book, e->type));
    uint32_t what = e->about ? e->about : e->partner_count ? e->partners[0].line : 0;
    if (what && !(what & HIDDEN_LINE))
        g_string_append_printf(s, " %s", metadata_label(book, what));
    if (e->undelivered && look && look->undelivered)
        g_string_append_printf(s, ", %s", look->undelivered);
    char *time = event_details_duration_text(e->time_ns),
         *what_markup = g_markup_escape_text(s->str, -1);
    GString *markup = g_string_new(NULL);
    g_string_append_printf(markup, "<b>%s", what_markup);
    if (e->site) {
        struct symbol_location site = symbolize(d->view->server_link.sites, e->process, e->site);
        g_string_append(markup, ", at ");
        add_place(markup, (struct table_place){e->process, e->site}, site.place);
    }
    g_string_append_printf(markup, ", %s%s</b>", time, state_text(e));
    gtk_label_set_markup(GTK_LABEL(d->head), markup->str);
    g_string_free(markup, TRUE);
    g_free(what_markup);
    g_free(time);
    g_string_free(s, TRUE);
}

static void describe_times(struct event_details *d, const struct event_info *e)
{
    char *exact = g_strdup_printf("%.9g s", (double)e->time_ns / 1e9);
    add_field(d, "Time", exact);
    if (e->waited_ns > 0) {
        char *waited = event_details_duration_text(e->waited_ns);
        char *named = g_strdup_printf("%s, thread %s", waited,
                                      metadata_label(view_metadata(d->view), e->thread));
        const char *why = wait_cause_sentence(d->view, &e->at);
        add_field(d, "Waited", named);
        if (why)
            add_field(d, "Cause", why);
        g_free(waited);
        g_free(named);
    }
    if (e->since_ns > 0) {
        char *since = event_details_duration_text(e->since_ns);
        char *text = g_strdup_printf("%s since the previous event on its line", since);
        add_field(d, "Gap", text);
        g_free(since);
        g_free(text);
    }
    g_free(exact);
}

void event_details_fill(struct event_details *d, const struct event_info *e)
{
    const struct trace_metadata *book = view_metadata(d->view);
    char at[48];
    event_id_print(at, sizeof at, e->at);
    describe_head(d, e);
    char *type = g_strdup_printf("%s, %s", metadata_type_name(book, e->type), at);
    add_field(d, "Event", type);
    add_field(d, "Line", metadata_label(book, e->at.line));
    if (e->thread && e->thread != e->at.line)
        add_field(d, "Thread", metadata_label(book, e->thread));
    event_placement_request(&d->ran, e);
    const char *ran = event_placement_text(&d->ran, e->at);
    if (ran)
        add_field(d, "Ran on", ran);
    if (e->about)
        add_field(d, "Object", metadata_label(book, e->about));
    describe_times(d, e);
    add_refs(d, partners_are(e), e->partners, e->partner_count);
    if (e->partner_lost)
        add_field(d, "Partner", "lost");
    add_refs(d, "Predecessors", e->after, e->after_count);
    if (e->fold) {
        char *fold = g_strdup_printf("%u critical sections", e->fold);
        add_field(d, "Collapsed", fold);
        g_free(fold);
    }
    for (uint32_t i = 0; i < e->text_count; i++)
        add_field(d, "Annotation", e->texts[i]);
    GString *source = g_string_new(NULL);
    if (e->site) {
        struct symbol_location site = symbolize(d->view->server_link.sites, e->process, e->site);
        if (*site.function)
            add_field(d, "Function", site.function);
        add_calls(d, e);
        source_code_append_lines(source, &site);
    }
    gtk_label_set_markup(GTK_LABEL(d->source), source->str);
    g_string_free(source, TRUE);
    g_free(type);
}

void event_details_clear(struct event_details *d)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(d->grid)))
        gtk_grid_remove(GTK_GRID(d->grid), child);
    d->rows = 0;
    gtk_label_set_text(GTK_LABEL(d->head), "");
    gtk_label_set_text(GTK_LABEL(d->source), "");
}

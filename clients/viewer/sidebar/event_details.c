#include "clients/viewer/sidebar/event_details.h"

#include "clients/connection/result_table.h"
#include "clients/metadata/event_text.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/source_code.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/sidebar/panel.h"
#include "wire/event_types.h"

#include <string.h>

/* ---- placement ---- */

/* For larger runs, a click does not trigger a query that examines the whole run; only an open
 * analysis pane does. */
#define PLACEMENT_EVENTS_MOST 1000000u

static void placement_on_table(void *user)
{
    struct event_details *d = user;
    if (!d->ran.spells.fresh)
        return;
    d->ran.spells.fresh = false;
    d->changed(d->view);
}

void event_details_forget(struct event_details *d)
{
    table_model_clear(&d->ran.spells);
    d->ran.of = (struct event_id){0};
}

/* Requests the intervals of the thread that end and begin at the event: it ran in one of them. */
static void placement_request(struct event_details *d, const struct event_info *e)
{
    struct view *view = d->view;
    struct event_placement *r = &d->ran;
    if (event_id_equal(r->of, e->at))
        return;
    event_details_forget(d);
    if (!e->thread || !view->server_link.connected || !view->server_link.has_run ||
        (!view->viewer_settings.drawer && view->server_link.count > PLACEMENT_EVENTS_MOST))
        return;
    r->of = e->at;
    r->spells.link = &view->server_link;
    r->spells.on_table = placement_on_table;
    r->spells.user = d;
    struct table_request request = table_model_request("intervals", "");
    request.from = (struct table_end){.is = TABLE_AT_NS, .at = e->time_ns - 1};
    request.to = (struct table_end){.is = TABLE_AT_NS, .at = e->time_ns + 1};
    request.lines = g_new(uint32_t, 1);
    request.lines[request.line_count++] = e->thread;
    table_model_send(&r->spells, &request);
}

static int placement_column(const struct result_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Returns "P1 of cluster c0", owned by the table; NULL: unknown, not known yet, or the worker
 * thread changed at the event. */
static const char *placement_text(const struct event_placement *r, struct event_id at)
{
    const struct result_table *t = &r->spells.table;
    int on = event_id_equal(r->of, at) && !t->problem ? placement_column(t, "worker") : -1;
    const char *place = NULL;
    for (uint32_t i = 0; on >= 0 && i < t->row_count; i++) {
        const struct table_cell *cell = &result_table_cells(t, i)[on];
        const char *here = cell->is == CELL_TEXT ? cell->text : NULL;
        if (place && here && strcmp(place, here) != 0)
            return NULL;
        place = here ? here : place;
    }
    return place;
}

/* ---- fields and links ---- */

static char *event_details_duration_text(int64_t ns)
{
    char s[32];
    duration_text(s, sizeof s, ns);
    return g_strdup(s);
}

/* Appends <a href="event:2:17">2:17</a> T:producer */
void event_details_append_link(GString *s, const struct trace_metadata *book, struct event_id at)
{
    char text[48];
    event_id_print(text, sizeof text, at);
    char *label =
        g_markup_escape_text(at.line & HIDDEN_LINE ? "" : metadata_label(book, at.line), -1);
    if (at.line & HIDDEN_LINE)
        g_string_append(s, text);
    else
        g_string_append_printf(s, "<a href=\"event:%s\">%s</a> %s", text, text, label);
    g_free(label);
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

/* Adds a line by its name, which links to its details in the analysis pane. */
static void add_line(struct event_details *d, const char *name, uint32_t line)
{
    char *markup = g_markup_printf_escaped("<a href=\"line:%u\">%s</a>", line,
                                           metadata_label(view_metadata(d->view), line));
    add_markup(d, name, markup);
    g_free(markup);
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

/* Returns the number of measured calls up to that of the function which contains the call site,
 * innermost first: the others called that function.  0 if it is none of them, but inlined. */
static uint32_t event_details_own_calls(struct symbolizer *sites, const struct event_info *e)
{
    char *own = g_strdup(symbolize(sites, e->process, e->site).function);
    uint32_t count = 0;
    for (uint32_t i = 0; *own && !count && i < e->call_count; i++)
        if (strcmp(symbolize(sites, e->process, e->calls[i]).function, own) == 0)
            count = i + 1;
    g_free(own);
    return count;
}

/* Adds the calls that led to the event, if they are measured or its call stack was recorded. */
static void add_calls(struct event_details *d, const struct event_info *e)
{
    const struct table_names names = {view_metadata(d->view), d->view->server_link.sites};
    GString *s = g_string_new(NULL);
    const uint64_t *calls = e->call_count ? e->calls : e->stack.callers;
    uint32_t count = e->call_count ? e->call_count : e->stack.count;
    for (uint32_t i = event_details_own_calls(names.sites, e); i < count; i++) {
        struct table_place function = {e->process, calls[i]};
        char *name = result_table_place_text(&names, function, "");
        g_string_append(s, s->len ? "\n" : "");
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
        event_details_append_link(s, view_metadata(d->view), refs[i]);
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
    add_line(d, "Line", e->at.line);
    if (e->thread && e->thread != e->at.line)
        add_line(d, "Thread", e->thread);
    placement_request(d, e);
    const char *ran = placement_text(&d->ran, e->at);
    if (ran)
        add_field(d, "Ran on", ran);
    if (e->about)
        add_line(d, "Object", e->about);
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

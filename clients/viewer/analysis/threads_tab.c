/* The tab Threads: the tree of threads and tasks by their creators, or how many there were
 * at each creation; of the whole run, or up to the selected event. */
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/viewer.h"

/* Attached to the window. */
struct threads_tab {
    struct tab_instance *paged;
    bool counts; /* else the tree */
    bool to_event; /* only up to the selected event */
    int64_t event_ns; /* its time; INT64_MIN: none is selected */
    GtkWidget *until; /* says that time */
};

static const struct tab_form threads_tab_forms[] = {
    {"tree", "Tree", "Which thread created which, and what each is doing"},
    {"counts", "Counts",
     "How many threads had been created, started, ended, deleted at each time"}};

/* Columns of the tree, and of the counts, which have the same first column. */
static const struct grid_column threads_tab_columns[] = {
    {"thread", NULL, NULL},        {"state", NULL, NULL},
    {"location", NULL, NULL},      {"object", NULL, NULL},
    {"created_at_ns", NULL, NULL}, {"started_at_ns", NULL, NULL},
    {"ended_at_ns", NULL, NULL},   {"deleted_at_ns", NULL, NULL},
    {"lifetime_ns", NULL, NULL},   {"created", NULL, NULL},
    {"started", NULL, NULL},       {"ended", NULL, NULL},
    {"deleted", NULL, NULL},       {"executing", NULL, NULL},
    {"clock", NULL, NULL},         {0}};

static struct threads_tab *threads_tab_state(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "threads");
}

/* ---- request ---- */

static bool is_limited(const struct threads_tab *s)
{
    return s->to_event && s->event_ns != INT64_MIN;
}

static void threads_tab_extend_request(struct view *view, struct table_request *r)
{
    const struct threads_tab *s = threads_tab_state(view);
    if (s->counts) {
        g_free(r->what);
        r->what = g_strdup("tasks");
    }
    if (is_limited(s)) /* the event included */
        r->to = (struct table_end){.is = TABLE_AT_NS, .at = s->event_ns + 1};
}

static void threads_tab_request(struct threads_tab *s)
{
    char *text = !s->to_event     ? g_strdup("")
                 : !is_limited(s) ? g_strdup("(no event is selected)")
                                  : g_strdup_printf("(%.3f ms)", (double)s->event_ns / 1e6);
    gtk_label_set_text(GTK_LABEL(s->until), text);
    g_free(text);
    tab_request(s->paged);
}

static void threads_tab_on_notification(struct view *view, enum notification what)
{
    struct threads_tab *s = threads_tab_state(view);
    struct event_id selected = view->viewport.place.selected;
    const struct event_info *e = scene_cache_find_event(&view->scene_cache, selected);
    int64_t ns = !selected.line ? INT64_MIN : e ? e->time_ns : s->event_ns;
    (void)what;
    if (ns == s->event_ns)
        return;
    s->event_ns = ns;
    if (s->to_event)
        threads_tab_request(s);
}

static void threads_tab_clear(struct view *view) { threads_tab_state(view)->event_ns = INT64_MIN; }

/* ---- controls ---- */

static void on_form(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    struct threads_tab *s = threads_tab_state(data);
    size_t form =
        tab_controls_choose(action, wanted, threads_tab_forms, G_N_ELEMENTS(threads_tab_forms));
    if (form < G_N_ELEMENTS(threads_tab_forms))
        s->counts = form == 1;
    threads_tab_request(s);
}

static void on_to_event(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    struct threads_tab *s = threads_tab_state(data);
    (void)wanted;
    s->to_event = !s->to_event;
    g_simple_action_set_state(action, g_variant_new_boolean(s->to_event));
    threads_tab_request(s);
}

static GtkWidget *threads_tab_create_controls(struct view *view)
{
    struct threads_tab *s = g_new0(struct threads_tab, 1);
    GtkWidget *row, *scrolled = tab_controls_row(&row),
                    *to_event = gtk_check_button_new_with_label("Up to the selected event");
    s->event_ns = INT64_MIN;
    s->until = gtk_label_new("");
    g_object_set_data_full(G_OBJECT(view->window), "threads", s, g_free);
    tab_controls_add_action(view, "threads-form", G_VARIANT_TYPE_STRING,
                            g_variant_new_string(threads_tab_forms[0].name), G_CALLBACK(on_form));
    tab_controls_add_action(view, "threads-to-event", NULL, g_variant_new_boolean(FALSE),
                            G_CALLBACK(on_to_event));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(to_event), "win.threads-to-event");
    gtk_widget_set_tooltip_text(to_event, "Show the threads as they were at the event selected in "
                                          "the diagram, instead of now or at the end");
    gtk_widget_add_css_class(s->until, "dim-label");
    gtk_box_append(GTK_BOX(row), tab_controls_forms("threads-form", threads_tab_forms,
                                                    G_N_ELEMENTS(threads_tab_forms)));
    gtk_box_append(GTK_BOX(row), to_event);
    gtk_box_append(GTK_BOX(row), s->until);
    return scrolled;
}

static void threads_tab_on_created(struct view *view, struct tab_instance *paged)
{
    threads_tab_state(view)->paged = paged;
}

const struct tab page_threads = {
    .name = "threads",
    .title = "Threads",
    .preset = "created",
    .row_kind = "",
    .empty_text = "No threads yet.",
    .tooltip = "Threads and tasks: created by which thread, started, ended, deleted; what each "
               "is doing",
    .columns = threads_tab_columns,
    .header = threads_tab_create_controls,
    .on_notification = threads_tab_on_notification,
    .clear = threads_tab_clear,
    .on_created = threads_tab_on_created,
    .request = threads_tab_extend_request,
};

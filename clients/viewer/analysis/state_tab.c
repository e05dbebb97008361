/* The tab State: what each thread does, and what it holds, at the smallest consistent cut with the
 * selected event; without one, at the end. The diagram shows that cut by the color of what happened
 * before the event. */
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/viewer.h"

/* Attached to the window. */
struct state_tab {
    struct tab_instance *paged;
    struct event_id shown; /* the event of the requested table; line 0: none */
    bool objects; /* else threads */
};

static const struct tab_form state_tab_forms[] = {
    {"threads", "Threads", "What each thread does there, and what it holds"},
    {"objects", "Objects", "Which threads hold each object and wait for it; units; messages"}};

/* Columns of the threads, and of the objects. */
static const struct grid_column state_tab_columns[] = {{"thread", NULL, NULL},
                                                       {"state", NULL, NULL},
                                                       {"class", NULL, NULL},
                                                       {"object", NULL, NULL},
                                                       {"location", NULL, NULL},
                                                       {"holders", NULL, NULL},
                                                       {"waiters", NULL, NULL},
                                                       {"units_posted", NULL, NULL},
                                                       {"units_acquired", NULL, NULL},
                                                       {"in_flight", NULL, NULL},
                                                       {0}};

static struct state_tab *state_tab_state(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "state at event");
}

static void state_tab_extend_request(struct view *view, struct table_request *r)
{
    struct state_tab *s = state_tab_state(view);
    char at[48];
    s->shown = view->viewport.place.selected;
    event_id_print(at, sizeof at, s->shown);
    if (s->shown.line && !(s->shown.line & HIDDEN_LINE))
        table_model_set_option(r, "at", at);
    if (s->objects)
        table_model_set_option(r, "objects", "1");
}

static void state_tab_on_notification(struct view *view, enum notification what)
{
    struct state_tab *s = state_tab_state(view);
    (void)what;
    if (!event_id_equal(view->viewport.place.selected, s->shown))
        tab_request(s->paged);
}

static void state_tab_on_form(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    struct state_tab *s = state_tab_state(data);
    size_t form =
        tab_controls_choose(action, wanted, state_tab_forms, G_N_ELEMENTS(state_tab_forms));
    if (form < G_N_ELEMENTS(state_tab_forms))
        s->objects = form == 1;
    tab_request(s->paged);
}

static GtkWidget *state_tab_create_controls(struct view *view)
{
    struct state_tab *s = g_new0(struct state_tab, 1);
    GtkWidget *row, *scrolled = tab_controls_row(&row);
    g_object_set_data_full(G_OBJECT(view->window), "state at event", s, g_free);
    tab_controls_add_action(view, "state-form", G_VARIANT_TYPE_STRING,
                            g_variant_new_string(state_tab_forms[0].name),
                            G_CALLBACK(state_tab_on_form));
    gtk_box_append(GTK_BOX(row), tab_controls_forms("state-form", state_tab_forms,
                                                    G_N_ELEMENTS(state_tab_forms)));
    return scrolled;
}

static void state_tab_on_created(struct view *view, struct tab_instance *paged)
{
    state_tab_state(view)->paged = paged;
}

const struct tab page_state = {
    .name = "state",
    .title = "State",
    .preset = "state",
    .row_kind = "",
    .empty_text = "No thread has started yet.",
    .tooltip = "What each thread does and holds right after the selected event and all that "
               "happened before it; without a selected event, at the end",
    .columns = state_tab_columns,
    .header = state_tab_create_controls,
    .whole_run = "The state is that at the selected event.",
    .on_notification = state_tab_on_notification,
    .on_created = state_tab_on_created,
    .request = state_tab_extend_request,
};

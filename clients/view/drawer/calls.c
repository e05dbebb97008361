/* How often each function was called, and what it took: as a list, a tree, or boxes; what was made in one lights up. */
#include "clients/view/drawer/boxed.h"
#include "clients/view/drawer/callfilter.h"
#include "clients/view/drawer/callmarks.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/parts/marked.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>
#include <string.h>

/* Kept with the window. */
struct calls {
    struct view *view;
    struct paged *paged; /* the page */
    enum shape { FLAT, TREE, BOXES } shape;
    bool by_thread;
    char *text; /* only what has it in its name; "": all */
    struct boxed *boxed;
    struct callmarks marks; /* of the selected row */
    struct ref event; /* whose row is to be selected once there is a table; line 0: none */
    struct table_place function; /* likewise; address 0: none */
    struct ref asked[2]; /* that were selected when it was asked */
};

static const char *const shapes[] = {"flat", "tree", "icicle"};

static struct calls *calls_of(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "calls");
}

static bool is_seen(struct view *view) { return page_seen(calls_of(view)->paged); }

/* ---- what is asked, and shown ---- */

/* From one selected event to the other, where there are two, in the order of their times. */
static void request_range(struct view *view, struct table_request *r)
{
    const struct place *place = &view->camera.place;
    const struct shown_event *one = stage_event(&view->stage, place->selected),
                             *other = place->second.line ? stage_event(&view->stage, place->second)
                                                         : NULL;
    if (!one || !other || one->time_ns == other->time_ns)
        return;
    bool turned = other->time_ns < one->time_ns;
    r->from = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? other->at : one->at};
    r->to = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? one->at : other->at};
    tabled_option(r, "coarse", "1");
}

static void request(struct view *view, struct table_request *r)
{
    struct calls *c = calls_of(view);
    request_range(view, r);
    c->asked[0] = view->camera.place.selected;
    c->asked[1] = view->camera.place.second;
    if (c->shape != FLAT)
        r->flags |= TABLE_TREE;
    if (c->by_thread) {
        g_free(r->by);
        r->by = g_strdup("thread");
    }
}

static GtkWidget *instead(struct view *view)
{
    struct calls *c = calls_of(view);
    return c->shape == BOXES ? boxed_widget(c->boxed) : NULL;
}

static bool *keeps(struct view *view, const struct shown_table *t)
{
    struct table_names names = {the_book(view), view->link.sites};
    return callfilter_rows(t, &names, calls_of(view)->text);
}

/* ---- selecting ---- */

static void chosen(struct view *view, const struct shown_table *t, int row)
{
    struct calls *c = calls_of(view);
    struct table_names names = {the_book(view), view->link.sites};
    callmarks_take(&c->marks, &names, t, row);
    callmarks_mark(view, &c->marks);
}

/* In the boxes, whose rows are those of the whole table. */
static void box_selected(struct view *view, int row)
{
    marked_clear(&view->marked);
    chosen(view, page_table(calls_of(view)->paged), row);
    news_tell(&view->news, NEWS_HITS);
}

static void select_row(struct view *view, int row)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES)
        boxed_select(c->boxed, row);
    else if (row >= 0)
        page_select(calls_of(view)->paged, row);
}

/* What waits to be selected, now that there is a table. */
static void select_wanted(struct view *view, const struct shown_table *t)
{
    struct calls *c = calls_of(view);
    struct table_names names = {the_book(view), view->link.sites};
    const struct shown_event *e = c->event.line ? stage_event(&view->stage, c->event) : NULL;
    int row = -1;
    if (c->function.address)
        row = callmarks_function(t, &names, c->function);
    else if (e && !c->by_thread)
        row = callmarks_row(t, &names, e, c->shape != FLAT);
    c->function = (struct table_place){0};
    c->event = (struct ref){0};
    if (row < 0)
        return;
    select_row(view, row);
    if (c->shape == BOXES) {
        marked_clear(&view->marked);
        chosen(view, t, row);
        news_tell(&view->news, NEWS_HITS);
    }
}

static gboolean on_later(gpointer data)
{
    struct view *view = data;
    if (is_seen(view) && page_has_rows(calls_of(view)->paged))
        select_wanted(view, page_table(calls_of(view)->paged));
    return G_SOURCE_REMOVE;
}

static void told(struct view *view, const struct shown_table *t)
{
    struct calls *c = calls_of(view);
    boxed_show(c->boxed, t);
    if (c->event.line || c->function.address)
        g_idle_add_full(G_PRIORITY_LOW, on_later, view, NULL);
}

static bool is_another_range(const struct view *view, const struct calls *c)
{
    const struct place *place = &view->camera.place;
    return !ref_equal(c->asked[1], place->second) ||
           (place->second.line && !ref_equal(c->asked[0], place->selected));
}

static void take(struct view *view, enum news news)
{
    struct calls *c = calls_of(view);
    if (news == NEWS_PICTURE && c->marks.count) {
        callmarks_mark(view, &c->marks);
        news_tell(&view->news, NEWS_HITS);
    }
    if (news == NEWS_SELECTED && is_another_range(view, c))
        page_ask(calls_of(view)->paged);
    if (news != NEWS_SELECTED || !view->camera.place.selected.line)
        return;
    c->event = view->camera.place.selected;
    on_later(view);
}

static void clear(struct view *view)
{
    callmarks_free(&calls_of(view)->marks);
    calls_of(view)->event = (struct ref){0};
}

/* ---- what is above it ---- */

static void on_shape(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    struct calls *c = calls_of(data);
    const char *word = g_variant_get_string(wanted, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++)
        if (strcmp(shapes[i], word) == 0) {
            c->shape = (enum shape)i;
            g_simple_action_set_state(action, wanted);
        }
    if (is_seen(data))
        page_ask(c->paged);
}

static void on_by_thread(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    struct calls *c = calls_of(data);
    (void)wanted;
    c->by_thread = !c->by_thread;
    g_simple_action_set_state(action, g_variant_new_boolean(c->by_thread));
    if (is_seen(data))
        page_ask(c->paged);
}

static void filter(struct view *view, const char *text)
{
    struct calls *c = calls_of(view);
    g_free(c->text);
    c->text = g_strdup(text);
    boxed_find(c->boxed, text);
    if (is_seen(view))
        page_filter(calls_of(view)->paged);
}

/* At once: who types is waited for. */
static void on_filter(GSimpleAction *action, GVariant *text, gpointer data)
{
    GtkWidget *entry = g_object_get_data(G_OBJECT(action), "entry");
    gtk_editable_set_text(GTK_EDITABLE(entry), g_variant_get_string(text, NULL));
    filter(data, g_variant_get_string(text, NULL));
}

/* "PROCESS:ADDRESS" in hexadecimal. */
static void on_function(GSimpleAction *action, GVariant *function, gpointer data)
{
    struct calls *c = calls_of(data);
    char *rest = NULL;
    (void)action;
    uint32_t process = (uint32_t)strtoul(g_variant_get_string(function, NULL), &rest, 16);
    g_action_group_activate_action(G_ACTION_GROUP(((struct view *)data)->window), "show-calls",
                                   NULL);
    c->event = (struct ref){0};
    c->function = (struct table_place){process, *rest == ':' ? strtoull(rest + 1, NULL, 16) : 0};
    on_later(data);
}

static void on_searched(GtkSearchEntry *entry, gpointer data)
{
    filter(data, gtk_editable_get_text(GTK_EDITABLE(entry)));
}

static GtkWidget *shape_button(const char *label, const char *shape, const char *about)
{
    GtkWidget *button = gtk_toggle_button_new_with_label(label);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.calls-shape");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", shape);
    gtk_widget_set_tooltip_text(button, about);
    return button;
}

static GSimpleAction *add_action(struct view *view, const char *name, const GVariantType *type,
                                 GVariant *state, GCallback does)
{
    GSimpleAction *action =
        state ? g_simple_action_new_stateful(name, type, state) : g_simple_action_new(name, type);
    g_signal_connect(action, "activate", does, view);
    g_action_map_add_action(G_ACTION_MAP(view->window), G_ACTION(action));
    g_object_unref(action);
    return action;
}

static void add_actions(struct view *view, GtkWidget *entry)
{
    add_action(view, "calls-shape", G_VARIANT_TYPE_STRING, g_variant_new_string(shapes[FLAT]),
               G_CALLBACK(on_shape));
    add_action(view, "calls-by-thread", NULL, g_variant_new_boolean(FALSE),
               G_CALLBACK(on_by_thread));
    add_action(view, "calls-function", G_VARIANT_TYPE_STRING, NULL, G_CALLBACK(on_function));
    GSimpleAction *text =
        add_action(view, "calls-filter", G_VARIANT_TYPE_STRING, NULL, G_CALLBACK(on_filter));
    g_object_set_data(G_OBJECT(text), "entry", entry);
}

/* What is wider than the drawer does not make it so wide. */
static GtkWidget *scrolled_along(GtkWidget *widget)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_AUTOMATIC,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), widget);
    return scrolled;
}

static GtkWidget *controls_new(struct view *view, GtkWidget *entry)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8),
              *linked = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0),
              *threads = gtk_check_button_new_with_label("By thread");
    gtk_widget_add_css_class(linked, "linked");
    gtk_box_append(GTK_BOX(linked), shape_button("Functions", "flat", "Each function once"));
    gtk_box_append(GTK_BOX(linked),
                   shape_button("Tree", "tree", "Functions below those that called them"));
    gtk_box_append(
        GTK_BOX(linked),
        shape_button("Boxes", "icicle", "The tree as boxes, as wide as what they took: an icicle"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(threads), "win.calls-by-thread");
    g_object_set(entry, "placeholder-text", "Only functions with…", "width-chars", 8,
                 "max-width-chars", 28, NULL);
    gtk_widget_set_hexpand(entry, TRUE);
    gtk_widget_set_halign(entry, GTK_ALIGN_START);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Only functions with this in their names", -1);
    g_signal_connect(entry, "search-changed", G_CALLBACK(on_searched), view);
    g_object_set(box, "margin-start", 8, "margin-end", 8, "margin-top", 4, "margin-bottom", 4,
                 NULL);
    gtk_box_append(GTK_BOX(box), linked);
    gtk_box_append(GTK_BOX(box), threads);
    gtk_box_append(GTK_BOX(box), entry);
    return scrolled_along(box);
}

static void free_calls(gpointer data)
{
    struct calls *c = data;
    callmarks_free(&c->marks);
    g_object_unref(boxed_widget(c->boxed));
    g_free(c->text);
    g_free(c);
}

static const struct boxed_ears ears = {box_selected};

static GtkWidget *above(struct view *view)
{
    struct calls *c = g_new0(struct calls, 1);
    GtkWidget *entry = gtk_search_entry_new();
    c->view = view;
    c->text = g_strdup("");
    c->boxed = boxed_new(view, &ears);
    g_object_set_data_full(G_OBJECT(view->window), "calls", c, free_calls);
    add_actions(view, entry);
    return controls_new(view, entry);
}

static void made(struct view *view, struct paged *paged) { calls_of(view)->paged = paged; }

/* ---- what is done to the boxes ---- */

static bool select_box(struct view *view, int row)
{
    struct calls *c = calls_of(view);
    if (c->shape != BOXES)
        return false;
    boxed_select(c->boxed, row);
    box_selected(view, row);
    return true;
}

static bool enter_box(struct view *view)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES)
        boxed_enter(c->boxed);
    return c->shape == BOXES;
}

static bool print_boxes(struct view *view, FILE *f)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES)
        boxed_print(c->boxed, f);
    return c->shape == BOXES;
}

static bool write_boxes(struct view *view, const struct page_options *o, const char *file,
                        const char **why)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES)
        *why = boxed_write(c->boxed, o, file);
    return c->shape == BOXES;
}

const struct page page_calls = {
    .name = "calls",
    .title = "Calls",
    .what = "calls",
    .by = "",
    .nothing = "No thread measured its calls: compile the program with poetcc -profile.",
    .about = "How often functions were called, and what they took",
    .above = above,
    .chosen = chosen,
    .instead = instead,
    .take = take,
    .clear = clear,
    .made = made,
    .request = request,
    .told = told,
    .keeps = keeps,
    .select = select_box,
    .enter = enter_box,
    .print = print_boxes,
    .write = write_boxes,
};

/* How often each function was called, and what it took: as a list, a tree, or boxes; what was made in one lights up. */
#include "clients/source/grouped.h"
#include "clients/view/drawer/boxed.h"
#include "clients/view/drawer/callfilter.h"
#include "clients/view/drawer/calllit.h"
#include "clients/view/drawer/callmarks.h"
#include "clients/view/drawer/callrange.h"
#include "clients/view/drawer/graphed.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/parts/marked.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/lit.h"
#include "clients/view/picture/view.h"

#include <stdlib.h>
#include <string.h>

/* Kept with the window. */
struct calls {
    struct paged *paged; /* the page */
    enum shape {
        FLAT,
        TREE,
        GRAPH,
        BOXES,
        BY_FILE,
        BY_CATEGORY
    } shape,
        asked; /* what there is a table of */
    bool by_thread;
    char *text; /* only what has it in its name; "": all */
    struct boxed *boxed;
    struct graphed *graphed;
    struct callmarks marks; /* of the selected row */
    struct ref event; /* whose row is to be selected once there is a table; line 0: none */
    struct table_place function; /* likewise; address 0: none */
    guint later; /* then it is selected */
    bool quiet; /* what is selected follows from an event that is: with it, it is undone */
    bool
        restored; /* a place of before is back: the function that was lit there is selected, no other */
    struct callrange range; /* that was asked about */
};

static const char *const shapes[] = {"flat", "tree", "graph", "icicle", "file", "category"};

static struct calls *calls_of(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "calls");
}

static bool is_seen(struct view *view) { return page_seen(calls_of(view)->paged); }

/* ---- what is asked, and shown ---- */

static bool is_grouped(enum shape shape) { return shape == BY_FILE || shape == BY_CATEGORY; }

static void request(struct view *view, struct table_request *r)
{
    struct calls *c = calls_of(view);
    callrange_ask(&c->range, view, r);
    c->asked = c->shape;
    if (c->shape == GRAPH)
        tabled_option(r, "graph", "yes");
    else if (c->shape == TREE || c->shape == BOXES)
        r->flags |= TABLE_TREE;
    if (c->by_thread && c->shape != GRAPH && !is_grouped(c->shape)) {
        g_free(r->by);
        r->by = g_strdup("thread");
    }
}

/* Of functions their files or categories, each with its functions below it. */
static void remake(struct view *view, struct shown_table *t)
{
    struct calls *c = calls_of(view);
    struct table_names names = {the_book(view), view->link.sites};
    struct grouped how = {.by = shapes[c->asked], .tree = true};
    struct shown_table groups = {0};
    if (!is_grouped(c->asked) || t->problem || !t->column_count)
        return;
    if (grouped_make(&groups, &how, &names, t)) {
        shown_table_free(t);
        *t = groups;
    } else {
        shown_table_free(&groups);
    }
}

static GtkWidget *instead(struct view *view)
{
    struct calls *c = calls_of(view);
    return c->shape == BOXES   ? boxed_widget(c->boxed)
           : c->shape == GRAPH ? graphed_widget(c->graphed)
                               : NULL;
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
    if (row >= (int)t->row_count)
        row = -1; /* of a table that was there before */
    callmarks_take(&c->marks, &names, t, row);
    callmarks_mark(view, &c->marks);
    char *lit = calllit_of(&names, t, row);
    if (!c->restored)
        lit_set(view, lit, !c->quiet);
    g_free(lit);
}

/* In the boxes, whose rows are those of the whole table. */
static void box_selected(struct view *view, int row)
{
    marked_clear(&view->marked);
    chosen(view, page_table(calls_of(view)->paged), row);
    news_tell(&view->news, NEWS_HITS);
}

static bool is_drawn(const struct calls *c) { return c->shape == BOXES || c->shape == GRAPH; }

static void select_row(struct view *view, int row)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES)
        boxed_select(c->boxed, row);
    else if (c->shape == GRAPH)
        graphed_select(c->graphed, row);
    else if (row >= 0)
        page_select(calls_of(view)->paged, row);
}

/* It follows from something else. */
static void select_quietly(struct view *view, const struct shown_table *t, int row)
{
    struct calls *c = calls_of(view);
    c->quiet = true;
    if (is_drawn(c)) {
        select_row(view, row);
        marked_clear(&view->marked);
        chosen(view, t, row);
        news_tell(&view->news, NEWS_HITS);
    } else {
        page_select(c->paged, row);
    }
    c->quiet = false;
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
        row = callmarks_row(t, &names, e, c->shape == TREE || c->shape == BOXES);
    c->function = (struct table_place){0};
    c->event = (struct ref){0};
    if (row >= 0)
        select_quietly(view, t, row);
}

/* The row whose function is lit; none. */
static void select_lit(struct view *view)
{
    struct calls *c = calls_of(view);
    const struct shown_table *t = page_table(c->paged);
    struct table_names names = {the_book(view), view->link.sites};
    const char *wanted = view->camera.place.lit;
    int row = -1;
    for (uint32_t i = 0; wanted && row < 0 && i < t->row_count; i++) {
        char *lit = calllit_of(&names, t, (int)i);
        row = g_strcmp0(lit, wanted) == 0 ? (int)i : -1;
        g_free(lit);
    }
    c->event = (struct ref){0};
    if (row >= 0 || c->marks.count)
        select_quietly(view, t, row);
}

static void select_now(struct view *view)
{
    if (is_seen(view) && page_has_rows(calls_of(view)->paged))
        select_wanted(view, page_table(calls_of(view)->paged));
}

static gboolean on_later(gpointer data)
{
    calls_of(data)->later = 0;
    select_now(data);
    return G_SOURCE_REMOVE;
}

/* Once the page shows it. */
static void later(struct view *view, struct calls *c)
{
    if (!c->later)
        c->later = g_idle_add_full(G_PRIORITY_LOW, on_later, view, NULL);
}

static void told(struct view *view, const struct shown_table *t)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES || !t->column_count)
        boxed_show(c->boxed, t);
    if (c->shape == GRAPH || !t->column_count)
        graphed_show(c->graphed, t);
    if (c->event.line || c->function.address)
        later(view, c);
}

static void take(struct view *view, enum news news)
{
    struct calls *c = calls_of(view);
    if (news == NEWS_SHOWN && c->asked != c->shape)
        page_ask(c->paged); /* it was changed while nobody looked */
    if (news == NEWS_PICTURE && c->marks.count) {
        callmarks_mark(view, &c->marks);
        news_tell(&view->news, NEWS_HITS);
    }
    if (news == NEWS_SELECTED && callrange_is_another(&c->range, view))
        page_ask(calls_of(view)->paged);
    c->restored |= news == NEWS_RESTORED;
    if (news == NEWS_SELECTED && c->restored) {
        if (page_has_rows(c->paged))
            select_lit(view);
        c->restored = false;
        return;
    }
    if (news != NEWS_SELECTED || !view->camera.place.selected.line)
        return;
    c->event = view->camera.place.selected;
    select_now(view);
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
    select_now(data);
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
    gtk_box_append(GTK_BOX(linked),
                   shape_button("Graph", "graph", "Who calls whom: boxes and arrows"));
    gtk_box_append(
        GTK_BOX(linked),
        shape_button("Boxes", "icicle", "The tree as boxes, as wide as what they took: an icicle"));
    gtk_box_append(GTK_BOX(linked),
                   shape_button("Files", "file", "Source files, with their functions"));
    gtk_box_append(GTK_BOX(linked),
                   shape_button("Categories", "category",
                                "What a description calls functions by their names"));
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
    if (c->later)
        g_source_remove(c->later);
    callmarks_free(&c->marks);
    g_object_unref(boxed_widget(c->boxed));
    g_object_unref(graphed_widget(c->graphed));
    g_free(c->text);
    g_free(c);
}

static const struct boxed_ears ears = {box_selected};

static GtkWidget *above(struct view *view)
{
    struct calls *c = g_new0(struct calls, 1);
    GtkWidget *entry = gtk_search_entry_new();
    c->text = g_strdup("");
    c->boxed = boxed_new(view, &ears);
    c->graphed = graphed_new(view, box_selected);
    g_object_set_data_full(G_OBJECT(view->window), "calls", c, free_calls);
    add_actions(view, entry);
    return controls_new(view, entry);
}

static void made(struct view *view, struct paged *paged) { calls_of(view)->paged = paged; }

/* ---- what is done to the boxes ---- */

static bool select_box(struct view *view, int row)
{
    struct calls *c = calls_of(view);
    if (!is_drawn(c))
        return false;
    select_row(view, row);
    box_selected(view, row);
    return true;
}

static bool enter_box(struct view *view)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES)
        boxed_enter(c->boxed);
    return is_drawn(c);
}

static bool print_boxes(struct view *view, FILE *f)
{
    struct calls *c = calls_of(view);
    if (c->shape == BOXES)
        boxed_print(c->boxed, f);
    else if (c->shape == GRAPH)
        graphed_print(c->graphed, f);
    return is_drawn(c);
}

static bool write_boxes(struct view *view, const struct page_options *o, const char *file,
                        const char **why)
{
    struct calls *c = calls_of(view);
    if (is_drawn(c))
        *why =
            c->shape == BOXES ? boxed_write(c->boxed, o, file) : graphed_write(c->graphed, o, file);
    return is_drawn(c);
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
    .remake = remake,
    .told = told,
    .keeps = keeps,
    .select = select_box,
    .enter = enter_box,
    .print = print_boxes,
    .write = write_boxes,
};

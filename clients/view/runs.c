#include "clients/view/runs.h"

#include "clients/view/parts/link.h"
#include "clients/view/picture/view.h"
#include "wire/ask.h"
#include "wire/message.h"
#include "wire/shown.h"

#include <stdlib.h>

struct runs {
    GtkWidget *choice;
    char *names; /* lines of the list as it comes */
    bool moving; /* we choose ourselves */
};

static void add_run(struct view *view, struct in *in)
{
    struct shown_run run;
    get_run(in, &run);
    if (in_done(in)) {
        char *more = g_strdup_printf("%s%u %s%s\n", view->runs->names ? view->runs->names : "",
                                     run.number, run.name, run.connected ? " (running)" : "");
        g_free(view->runs->names);
        view->runs->names = more;
    }
    shown_run_free(&run);
}

static void show_runs(struct view *view)
{
    char **names = g_strsplit(view->runs->names ? view->runs->names : "", "\n", -1);
    guint n = g_strv_length(names);
    if (n)
        g_clear_pointer(&names[n - 1], g_free);
    GtkStringList *list = gtk_string_list_new((const char *const *)names);
    view->runs->moving = true;
    gtk_drop_down_set_model(GTK_DROP_DOWN(view->runs->choice), G_LIST_MODEL(list));
    for (guint i = 0; names[i]; i++)
        if (strtoul(names[i], NULL, 10) == the_book(view)->run.number)
            gtk_drop_down_set_selected(GTK_DROP_DOWN(view->runs->choice), i);
    view->runs->moving = false;
    gtk_widget_set_visible(view->runs->choice, n > 2);
    g_object_unref(list);
    g_strfreev(names);
    g_clear_pointer(&view->runs->names, g_free);
}

static void take_runs(void *user, const struct answer *answer)
{
    if (answer->part == PART_RUN)
        add_run(user, answer->in);
    if (answer->last)
        show_runs(user);
}

void runs_ask(struct view *view)
{
    g_clear_pointer(&view->runs->names, g_free);
    link_ask(&view->link, ASK_RUNS, NULL, take_runs, view);
}

static void on_run_chosen(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    (void)spec;
    GtkStringObject *item = gtk_drop_down_get_selected_item(GTK_DROP_DOWN(object));
    if (view->runs->moving || i == GTK_INVALID_LIST_POSITION || !item)
        return;
    char *number = g_strdup_printf("%lu", strtoul(gtk_string_object_get_string(item), NULL, 10));
    link_select(&view->link, number);
    g_free(number);
}

GtkWidget *runs_new(struct view *view)
{
    view->runs = g_new0(struct runs, 1);
    GtkWidget *choice = view->runs->choice = gtk_drop_down_new(NULL, NULL);
    gtk_widget_set_visible(choice, FALSE);
    gtk_widget_set_tooltip_text(choice, "The runs of this server");
    g_signal_connect(choice, "notify::selected", G_CALLBACK(on_run_chosen), view);
    return choice;
}

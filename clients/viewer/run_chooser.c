#include "clients/viewer/run_chooser.h"

#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/toast.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/request.h"
#include "wire/message.h"
#include "wire/trace_view.h"

#include <stdlib.h>

/* ---- list ---- */

struct run_chooser {
    GtkWidget *choice;
    char *names; /* of the runs, line by line, as received */
    bool moving; /* a change by the program, not by the user */
    bool newer_pending; /* there is a newer run, which was announced but is not shown */
};

static const struct viewer_addon run_chooser_addon = {"run_chooser", sizeof(struct run_chooser)};

static struct run_chooser *run_chooser_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &run_chooser_addon);
}

static void add_run(struct view *view, struct decoder *in)
{
    struct run_info run;
    decode_run_info(in, &run);
    struct run_chooser *chooser = run_chooser_find(view);
    if (decoder_finish(in)) {
        char *more = g_strdup_printf("%s%u %s%s\n", chooser->names ? chooser->names : "",
                                     run.number, run.name, run.connected ? " (running)" : "");
        g_free(chooser->names);
        chooser->names = more;
    }
    run_info_free(&run);
}

static void show_runs(struct view *view)
{
    struct run_chooser *chooser = run_chooser_find(view);
    char **names = g_strsplit(chooser->names ? chooser->names : "", "\n", -1);
    guint n = g_strv_length(names);
    if (n)
        g_clear_pointer(&names[n - 1], g_free);
    GtkStringList *list = gtk_string_list_new((const char *const *)names);
    chooser->moving = true;
    gtk_drop_down_set_model(GTK_DROP_DOWN(chooser->choice), G_LIST_MODEL(list));
    for (guint i = 0; names[i]; i++)
        if (strtoul(names[i], NULL, 10) == view_metadata(view)->run.number)
            gtk_drop_down_set_selected(GTK_DROP_DOWN(chooser->choice), i);
    chooser->moving = false;
    gtk_widget_set_visible(chooser->choice, n > 2);
    g_object_unref(list);
    g_strfreev(names);
    g_clear_pointer(&chooser->names, g_free);
}

static void run_chooser_receive_runs(void *user, const struct response_chunk *answer)
{
    if (answer->part == RESPONSE_RUN)
        add_run(user, answer->in);
    if (answer->last)
        show_runs(user);
}

void run_chooser_request(struct view *view)
{
    g_clear_pointer(&run_chooser_find(view)->names, g_free);
    server_link_request(&view->server_link, REQUEST_RUNS, NULL, run_chooser_receive_runs, view);
}

static void on_run_chosen(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    (void)spec;
    GtkStringObject *item = gtk_drop_down_get_selected_item(GTK_DROP_DOWN(object));
    if (run_chooser_find(view)->moving || i == GTK_INVALID_LIST_POSITION || !item)
        return;
    char *number = g_strdup_printf("%lu", strtoul(gtk_string_object_get_string(item), NULL, 10));
    server_link_select(&view->server_link, number);
    g_free(number);
}

/* Lets a newer run replace the present one only where nothing is lost: with nothing selected, while
 * following its end or in the view with which it opened. */
static void run_chooser_watch(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    const struct view_history *history = &view->history;
    bool opened = !history->back_count && !history->forth_count,
         unchanged = (p->follow || opened) && !p->selected.line;
    bool replaceable = !view->server_link.has_run || (unchanged && view->server_link.newest &&
                                                      !run_chooser_find(view)->newer_pending);
    server_link_set_feed(&view->server_link, replaceable ? FEED_ON : FEED_STAY);
}

static void run_chooser_on_notification(struct view *view, enum notification what)
{
    (void)what;
    run_chooser_watch(view);
}

GtkWidget *run_chooser_new(struct view *view)
{
    notifier_connect(&view->notifier, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_PLACE) | NOTIFY_BIT(NOTIFY_SELECTION) |
                         NOTIFY_BIT(NOTIFY_ACTIONS),
                     run_chooser_on_notification);
    struct run_chooser *chooser = viewer_addons_add(&view->addons, &run_chooser_addon);
    GtkWidget *choice = chooser->choice = gtk_drop_down_new(NULL, NULL);
    gtk_widget_set_visible(choice, FALSE);
    gtk_widget_set_tooltip_text(choice, "Runs of this server");
    g_signal_connect(choice, "notify::selected", G_CALLBACK(on_run_chosen), view);
    return choice;
}

/* ---- newer runs ---- */

static void run_chooser_select_newest(void *user)
{
    struct view *view = user;
    server_link_select(&view->server_link, "");
}

void run_chooser_on_begun(struct view *view, const char *name)
{
    char *text = g_strdup_printf("%s started", name);
    run_chooser_find(view)->newer_pending = true;
    toast_show(&view->toast, text, "_Show", run_chooser_select_newest, view);
    run_chooser_request(view);
    g_free(text);
}

void run_chooser_on_shown(struct view *view)
{
    run_chooser_find(view)->newer_pending = false;
    toast_hide(&view->toast);
    run_chooser_watch(view);
}

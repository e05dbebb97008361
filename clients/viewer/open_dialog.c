/* The dialogs for opening a source: a file, a server, or one of the saved runs on this host, with
 * when each ran, how long, and how it ended. */
#include "clients/viewer/dialogs.h"

#include "clients/connection/install_paths.h"
#include "clients/connection/session.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/server_link.h"
#include "wire/endpoint.h"

#include <json-c/json.h>
#include <limits.h>

static void open_dialog_on_file(void *user, const char *path)
{
    struct view *view = user;
    if (path)
        server_link_open(&view->server_link, path);
}

static void open_dialog_show_files(struct view *view)
{
    char traces[PATH_MAX];
    run_discovery_state(traces, sizeof traces);
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                             .title = "Open trace",
                                             .kind = "Poet traces (*.poet)",
                                             .pattern = "*.poet",
                                             .folder = traces},
                       open_dialog_on_file, view);
}

static bool open_dialog_connect(struct view *view, const char *what, struct error *error)
{
    if (*what && !endpoint_is(what) && !g_str_has_prefix(what, "ssh:")) {
        error_set(error,
                  "%s: invalid endpoint; enter unix:PATH, poet://HOST:PORT or ssh:HOST[:FILE]",
                  what);
        return false;
    }
    server_link_open(&view->server_link, *what ? what : NULL);
    return true;
}

void open_dialog_show_connect(struct view *view)
{
    char endpoint[400] = "";
    struct error error;
    endpoint_default(endpoint, sizeof endpoint, &error);
    dialog_prompt(view,
                  &(struct dialog_question){
                      .title = "Connect to server",
                      .words = "unix:PATH, poet://HOST:PORT, or ssh:HOST[:FILE] for a remote host; "
                               "empty for the default server",
                      .placeholder = endpoint,
                      .button = "_Connect"},
                  open_dialog_connect);
}

/* ---- saved runs ---- */

struct saved_runs {
    struct view *view;
    GtkWidget *window, *list, *nothing;
    GCancellable *cancel;
};

static const char *saved_runs_text(struct json_object *o, const char *name)
{
    struct json_object *v;
    return json_object_object_get_ex(o, name, &v) && json_object_is_type(v, json_type_string)
               ? json_object_get_string(v)
               : "";
}

static int64_t saved_runs_number(struct json_object *o, const char *name)
{
    struct json_object *v;
    return json_object_object_get_ex(o, name, &v) ? json_object_get_int64(v) : 0;
}

/* Returns "22 Nov 14:05:17, 0.138 s, 1143 events, killed". */
static char *saved_runs_describe_run(struct json_object *o)
{
    GDateTime *begin =
        g_date_time_new_from_unix_local(saved_runs_number(o, "start_ns") / 1000000000);
    char *date = begin ? g_date_time_format(begin, "%e %b %Y %H:%M:%S") : g_strdup("");
    double seconds = (double)saved_runs_number(o, "duration_ns") / 1e9;
    struct json_object *deadlock;
    bool dead =
        json_object_object_get_ex(o, "deadlock", &deadlock) && json_object_get_boolean(deadlock);
    char *words = g_strdup_printf("%s, %.3g s, %" G_GINT64_FORMAT " events, %s%s", g_strstrip(date),
                                  seconds, saved_runs_number(o, "events"),
                                  saved_runs_text(o, "status"), dead ? ", deadlock" : "");
    g_free(date);
    if (begin)
        g_date_time_unref(begin);
    return words;
}

static void saved_runs_add_row(struct saved_runs *t, struct json_object *o)
{
    GtkWidget *label = gtk_label_new(NULL), *row = gtk_list_box_row_new();
    const char *run = saved_runs_text(o, "run");
    char *words = saved_runs_describe_run(o);
    char *markup = g_markup_printf_escaped(
        "<b>%s</b>  %s\n<small>%s</small>",
        *saved_runs_text(o, "program") ? saved_runs_text(o, "program") : run, run, words);
    gtk_label_set_markup(GTK_LABEL(label), markup);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
    g_object_set(label, "margin-top", 4, "margin-bottom", 4, "margin-start", 8, "margin-end", 8,
                 NULL);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
    accessible_name_from(row, label);
    g_object_set_data_full(G_OBJECT(row), "run",
                           g_strdup(*saved_runs_text(o, "file") ? saved_runs_text(o, "file") : run),
                           g_free);
    gtk_list_box_append(GTK_LIST_BOX(t->list), row);
    g_free(markup);
    g_free(words);
}

/* ---- list of runs, by `poet ls` ---- */

static void saved_runs_on_listed(GObject *process, GAsyncResult *result, gpointer data)
{
    char *text = NULL;
    struct json_object *o, *runs;
    GError *error = NULL;
    if (!g_subprocess_communicate_utf8_finish(G_SUBPROCESS(process), result, &text, NULL, &error)) {
        g_clear_error(&error); /* the window may have been closed */
        return;
    }
    struct saved_runs *t = data;
    o = text ? json_tokener_parse(text) : NULL;
    bool any = o && json_object_object_get_ex(o, "runs", &runs) &&
               json_object_is_type(runs, json_type_array) && json_object_array_length(runs);
    for (size_t i = 0; any && i < json_object_array_length(runs); i++)
        saved_runs_add_row(t, json_object_array_get_idx(runs, i));
    gtk_label_set_text(GTK_LABEL(t->nothing), "No saved runs yet.");
    json_object_put(o);
    g_free(text);
}

static void saved_runs_request_list(struct saved_runs *t)
{
    char path[PATH_MAX];
    const char *program = install_path_poet(path, sizeof path);
    GSubprocess *process =
        g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
                         program, "ls", "--json", NULL);
    if (process)
        g_subprocess_communicate_utf8_async(process, NULL, t->cancel, saved_runs_on_listed, t);
    g_clear_object(&process);
}

/* ---- window of runs ---- */

static void saved_runs_on_row(GtkListBox *list, GtkListBoxRow *row, gpointer data)
{
    struct saved_runs *t = data;
    (void)list;
    server_link_open(&t->view->server_link, g_object_get_data(G_OBJECT(row), "run"));
    gtk_window_destroy(GTK_WINDOW(t->window));
}

static void saved_runs_on_other(GtkButton *button, gpointer data)
{
    struct saved_runs *t = data;
    struct view *view = t->view;
    (void)button;
    gtk_window_destroy(GTK_WINDOW(t->window));
    open_dialog_show_files(view);
}

static void saved_runs_free(gpointer data)
{
    struct saved_runs *t = data;
    g_cancellable_cancel(t->cancel);
    g_object_unref(t->cancel);
    g_free(t);
}

void open_dialog_show_runs(struct view *view)
{
    struct saved_runs *t = g_new0(struct saved_runs, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *scrolled = gtk_scrolled_window_new(),
              *other = gtk_button_new_with_mnemonic("_Other file…");
    *t = (struct saved_runs){view, dialog_new(view, "Open trace"), gtk_list_box_new(),
                             gtk_label_new("Searching…"), g_cancellable_new()};
    gtk_list_box_set_placeholder(GTK_LIST_BOX(t->list), t->nothing);
    g_object_set(t->nothing, "margin-top", 20, NULL);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), t->list);
    gtk_widget_set_vexpand(scrolled, TRUE);
    g_object_set(other, "margin-top", 8, "margin-bottom", 8, "margin-start", 8, "margin-end", 8,
                 "halign", GTK_ALIGN_END, NULL);
    gtk_box_append(GTK_BOX(box), scrolled);
    gtk_box_append(GTK_BOX(box), other);
    gtk_window_set_default_size(GTK_WINDOW(t->window), 560, 420);
    gtk_window_set_child(GTK_WINDOW(t->window), box);
    g_object_set_data_full(G_OBJECT(t->window), "traces", t, saved_runs_free);
    g_signal_connect(t->list, "row-activated", G_CALLBACK(saved_runs_on_row), t);
    g_signal_connect(other, "clicked", G_CALLBACK(saved_runs_on_other), t);
    gtk_window_present(GTK_WINDOW(t->window));
    saved_runs_request_list(t);
}

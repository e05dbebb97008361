#include "clients/view/view.h"

#include "wire/limits.h"

#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>

static void send_empty(struct view *view, enum message type)
{
    struct out out = {0};
    source_ask(&out, type);
    source_send(&view->source, &out);
}

static void start_feed(struct view *view)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_FEED);
    put_u8(&out, 1);
    out_end(&out);
    source_send(&view->source, &out);
    send_empty(view, MESSAGE_RUNS);
}

void link_select(struct view *view, const char *run)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_SELECT);
    put_string(&out, run);
    out_end(&out);
    source_send(&view->source, &out);
}

static void ask(struct view *view, uint32_t id, const struct window_request *wanted)
{
    struct window_request request = *wanted;
    struct out out = {0};
    request.id = id;
    out_begin(&out, MESSAGE_WINDOW);
    put_window_request(&out, &request);
    out_end(&out);
    source_send(&view->source, &out);
}

void link_ask(struct view *view)
{
    if (!view->connected || !view->has_run)
        return;
    if (view->asked) {
        view->ask_again = true;
        return;
    }
    uint32_t columns = canvas_columns(view);
    if (view->follow) {
        view->anchor = ANCHOR_END;
        view->from = -(int32_t)columns;
    }
    view->asked = true;
    ask(view, REQUEST_VIEW, &(struct window_request){.anchor = (uint8_t)view->anchor,
                                                     .position = view->position,
                                                     .fraction = view->fraction,
                                                     .from = view->from,
                                                     .columns = columns});
}

void link_ask_save(struct view *view)
{
    ask(view, REQUEST_SAVE,
        &(struct window_request){.anchor = ANCHOR_START, .columns = LIMIT_COLUMNS});
}

static void take_window(struct view *view, struct in *in)
{
    struct shown_window window;
    get_window(in, &window);
    if (!in_done(in)) {
        shown_window_free(&window);
        window_say(view, "%s: %s", view->source.name, in->error);
        return;
    }
    label_lines(&view->source.book, view->sites, &view->known, LABELS_ADDRESS);
    if (window.id == REQUEST_SAVE) {
        file_write(view, &window);
        return;
    }
    view->asked = false;
    canvas_show(view, &window);
    if (view->ask_again) {
        view->ask_again = false;
        link_ask(view);
    }
}

static void begin_run(struct view *view)
{
    sites_free(view->sites);
    view->sites = sites_new();
    view->known = 0;
    view->has_run = true;
    view->asked = view->ask_again = false;
    view->selected = (struct ref){0, 0};
    view->anchor = ANCHOR_END;
    view->follow = true;
    window_empty(view, NULL);
    window_titles(view);
    canvas_follow(view, true);
    send_empty(view, MESSAGE_RUNS);
}

static void take_runs(struct view *view, struct in *in)
{
    struct shown_run run;
    get_run(in, &run);
    if (in_done(in)) {
        char *more = g_strdup_printf("%s%u %s%s\n", view->run_names ? view->run_names : "",
                                     run.number, run.name, run.connected ? " (running)" : "");
        g_free(view->run_names);
        view->run_names = more;
    }
    shown_run_free(&run);
}

static void show_runs(struct view *view)
{
    char **names = g_strsplit(view->run_names ? view->run_names : "", "\n", -1);
    guint n = g_strv_length(names);
    if (n)
        g_clear_pointer(&names[n - 1], g_free);
    GtkStringList *list = gtk_string_list_new((const char *const *)names);
    view->moving = true;
    gtk_drop_down_set_model(GTK_DROP_DOWN(view->runs), G_LIST_MODEL(list));
    for (guint i = 0; names[i]; i++)
        if (strtoul(names[i], NULL, 10) == view->source.book.run.number)
            gtk_drop_down_set_selected(GTK_DROP_DOWN(view->runs), i);
    view->moving = false;
    gtk_widget_set_visible(view->runs, n > 2);
    g_object_unref(list);
    g_strfreev(names);
    g_clear_pointer(&view->run_names, g_free);
}

static void take(struct view *view, unsigned type, struct in *in)
{
    switch (type) {
    case MESSAGE_SELECTED:
        begin_run(view);
        break;
    case MESSAGE_WINDOW_IS:
        take_window(view, in);
        break;
    case MESSAGE_GROWN:
        get_u64(in);
        get_u64(in);
        view->source.book.run.connected = get_u32(in);
        window_titles(view);
        if (view->follow || !view->shown.more_right)
            link_ask(view);
        break;
    case MESSAGE_RUN:
        take_runs(view, in);
        break;
    case MESSAGE_RUNS_END:
        show_runs(view);
        break;
    default: /* ERROR: there is no run yet */
        break;
    }
}

static gboolean on_bytes(gint fd, GIOCondition condition, gpointer data)
{
    struct view *view = data;
    unsigned type;
    struct in in;
    struct error error;
    int got;
    (void)fd;
    (void)condition;
    while ((got = source_next(&view->source, false, &type, &in, &error)) > 0)
        take(view, type, &in);
    if (got == 0)
        return G_SOURCE_CONTINUE;
    window_say(view, "%s: what is shown stays; Connect to go on", error.text);
    view->connected = false;
    view->watch = 0;
    return G_SOURCE_REMOVE;
}

void link_close(struct view *view)
{
    if (view->watch)
        g_source_remove(view->watch);
    view->watch = 0;
    if (view->source.name)
        source_close(&view->source);
    shown_window_free(&view->shown);
    scene_free(view->scene);
    sites_free(view->sites);
    view->scene = NULL;
    view->sites = NULL;
    view->connected = view->has_run = view->asked = view->ask_again = false;
}

bool link_open(struct view *view, const char *what)
{
    struct source source;
    struct error error;
    bool ok = what ? source_open(&source, what, false, &error) : source_open_default(&source, &error);
    if (!ok) {
        window_say(view, "%s", error.text);
        return false;
    }
    link_close(view);
    view->source = source;
    view->connected = true;
    view->watch = g_unix_fd_add(source.fd, G_IO_IN | G_IO_HUP, on_bytes, view);
    const char *run = what && endpoint_is(what) ? strchr(what, '#') : NULL;
    link_select(view, run ? run + 1 : "");
    start_feed(view);
    char *text = source.is_file
                     ? g_strdup_printf("Reading %s…", source.name)
                     : g_strdup_printf("Waiting for a traced program on %s\n\n"
                                       "    poetcc -trace prodcons.c -o prodcons\n"
                                       "    ./prodcons", source.name);
    window_empty(view, text);
    window_say(view, "%s %s", source.is_file ? "Opened" : "Connected to", source.name);
    window_titles(view);
    g_free(text);
    return true;
}

/* The connection: which run it is about, and what it tells without being asked (asking is in ask.c). */
#include "clients/view/view.h"
#include "wire/asked.h"

#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static void begin_run(struct view *view)
{
    struct link *l = &view->link;
    source_forget(&l->source); /* what was asked about another run */
    g_clear_pointer(&l->names, g_free);
    sites_free(l->sites);
    l->sites = sites_new();
    l->known = 0;
    l->labelled = 0;
    l->count = the_book(view)->run.events;
    l->has_run = l->fresh = true;
    l->damage_told = 0;
    stage_free(&view->stage);
    ties_clear(&view->ties);
    place_free(&view->place);
    view->place = (struct place){.anchor = ANCHOR_END, .follow = true, .zoom = ZOOM_FIRST, .stands = true};
    view->hold.active = false;
    history_clear(view);
    panels_clear(view);
    fetch_cancel(view);
    window_empty(view, NULL, NULL);
    window_titles(view);
    motion_follow(view, true);
    views_offer_arrangement(view);
    if (source_warning(&l->source))
        window_say(view, "%s: %s", l->source.name, source_warning(&l->source));
    link_runs(view);
    panels_tell(view, NEWS_QUIET);
    map_ask(view);
}

static void add_run(struct view *view, struct in *in)
{
    struct shown_run run;
    get_run(in, &run);
    if (in_done(in)) {
        char *more = g_strdup_printf("%s%u %s%s\n", view->link.names ? view->link.names : "",
                                     run.number, run.name, run.connected ? " (running)" : "");
        g_free(view->link.names);
        view->link.names = more;
    }
    shown_run_free(&run);
}

static void show_runs(struct view *view)
{
    char **names = g_strsplit(view->link.names ? view->link.names : "", "\n", -1);
    guint n = g_strv_length(names);
    if (n)
        g_clear_pointer(&names[n - 1], g_free);
    GtkStringList *list = gtk_string_list_new((const char *const *)names);
    view->moving = true;
    gtk_drop_down_set_model(GTK_DROP_DOWN(view->runs), G_LIST_MODEL(list));
    for (guint i = 0; names[i]; i++)
        if (strtoul(names[i], NULL, 10) == the_book(view)->run.number)
            gtk_drop_down_set_selected(GTK_DROP_DOWN(view->runs), i);
    view->moving = false;
    gtk_widget_set_visible(view->runs, n > 2);
    g_object_unref(list);
    g_strfreev(names);
    g_clear_pointer(&view->link.names, g_free);
}

static void take_runs(void *user, const struct answer *answer)
{
    if (answer->part == PART_RUN)
        add_run(user, answer->in);
    if (answer->last)
        show_runs(user);
}

void link_runs(struct view *view) { link_ask(view, ASK_RUNS, NULL, take_runs, view); }

void link_select(struct view *view, const char *run)
{
    struct out body = {0};
    put_string(&body, run);
    put_u8(&body, SELECT_NAMED_LINES);
    link_ask(view, ASK_SELECT, &body, NULL, NULL);
}

static void feed(struct view *view)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_FEED);
    put_u8(&out, 1);
    out_end(&out);
    source_send(&view->link.source, &out);
}

/* ---- news ---- */

/* A run that has stopped growing may hang. */
static gboolean on_quiet(gpointer data)
{
    struct view *view = data;
    view->quiet_timer = 0;
    panels_tell(view, NEWS_QUIET);
    map_ask(view);
    return G_SOURCE_REMOVE;
}

#define MAP_EVERY_US 2000000

static void take_grown(struct view *view, struct in *in)
{
    get_u64(in);
    view->link.count = get_u64(in);
    the_book(view)->run.connected = get_u32(in);
    view->link.behind_ns = in_left(in) ? get_u64(in) : 0; /* an older server does not say */
    window_behind(view);
    window_titles(view);
    panels_tell(view, NEWS_GROWN);
    if (view->place.follow || !view->stage.window.more_right)
        link_window(view);
    gint64 now = g_get_monotonic_time();
    if (now - view->link.map_us > MAP_EVERY_US) {
        view->link.map_us = now;
        map_ask(view);
    }
    if (view->quiet_timer)
        g_source_remove(view->quiet_timer);
    view->quiet_timer = g_timeout_add(1000, on_quiet, view);
}

/* Names for what the tables have brought. */
static void label_news(struct view *view)
{
    struct link *l = &view->link;
    if (!l->has_run || l->labelled == the_book(view)->generation)
        return;
    label_lines(the_book(view), l->sites, &l->known, view->settings.look.labels);
    l->labelled = the_book(view)->generation;
}

/* Each time that more of the trace turns out to be unreadable. */
static void tell_damage(struct view *view)
{
    const struct book *book = the_book(view);
    if (!view->link.has_run || !book->damage || view->link.damage_told == book->unreadable + 1)
        return;
    view->link.damage_told = book->unreadable + 1;
    window_say(view, "%s", book->damage);
}

/* False: an answer was damaged. */
static bool take(struct view *view, unsigned type, struct in *in, struct error *error)
{
    label_news(view);
    tell_damage(view);
    if (type == MESSAGE_SELECTED)
        begin_run(view);
    else if (type == MESSAGE_GROWN)
        take_grown(view, in);
    return type != MESSAGE_ANSWER || source_answered(&view->link.source, in, error);
}

/* ---- patience ---- */

#define PATIENCE_US 1000000

/* Whoever waits for more than a second for a picture is told, and may give up. */
static gboolean on_patience(gpointer data)
{
    struct view *view = data;
    struct link *l = &view->link;
    bool waits = inquiry_runs(view, &view->stage.placing) || inquiry_runs(view, &view->stage.counting);
    gint64 now = g_get_monotonic_time();
    l->asked_us = waits ? l->asked_us ? l->asked_us : now : 0;
    if (waits && !l->impatient && now - l->asked_us > PATIENCE_US) {
        l->impatient = true;
        window_busy(view, "Waiting for the server", -1);
    } else if (!waits && l->impatient) {
        l->impatient = false;
        window_busy(view, NULL, 0);
    }
    return G_SOURCE_CONTINUE;
}

void link_give_up(struct view *view)
{
    inquiry_cancel(view, &view->stage.placing);
    inquiry_cancel(view, &view->stage.counting);
    view->link.impatient = false;
}

/* ---- the line itself ---- */

static void lost(struct view *view, const char *why)
{
    view->link.connected = false;
    view->link.behind_ns = 0;
    the_book(view)->run.connected = 0;
    window_titles(view);
    window_busy(view, NULL, 0);
    window_trouble(view, "_Reconnect", "%s — what is shown stays", why);
    actions_update(view);
}

#define TURN_US 8000 /* then what was drawn is to be seen */

/* Takes what there is; false when the connection is over. */
static gboolean drain(struct view *view, bool *more)
{
    unsigned type;
    struct in in;
    struct error error;
    int got = 0;
    gint64 until = g_get_monotonic_time() + TURN_US;
    *more = false;
    while (!*more && (got = source_next(&view->link.source, false, &type, &in, &error)) > 0) {
        got = take(view, type, &in, &error) ? got : -1;
        *more = g_get_monotonic_time() > until;
        if (got < 0)
            break;
    }
    if (got < 0)
        lost(view, error.text);
    return got >= 0;
}

static gboolean on_more(gpointer data)
{
    struct view *view = data;
    bool more = false;
    if (view->link.connected && drain(view, &more) && more)
        return G_SOURCE_CONTINUE;
    view->link.more = 0;
    return G_SOURCE_REMOVE;
}

static gboolean on_bytes(gint fd, GIOCondition condition, gpointer data)
{
    struct view *view = data;
    bool more;
    (void)fd;
    (void)condition;
    if (!view->link.connected || !drain(view, &more)) {
        view->link.watch = 0;
        return G_SOURCE_REMOVE;
    }
    if (more && !view->link.more)
        view->link.more = g_idle_add(on_more, view);
    return G_SOURCE_CONTINUE;
}

void link_close(struct view *view)
{
    struct link *l = &view->link;
    if (l->watch)
        g_source_remove(l->watch);
    if (l->more)
        g_source_remove(l->more);
    if (l->patience)
        g_source_remove(l->patience);
    l->more = l->patience = 0;
    if (view->quiet_timer)
        g_source_remove(view->quiet_timer);
    view->quiet_timer = 0;
    l->watch = 0;
    if (l->has_run)
        views_keep_arrangement(view);
    l->last_id = l->source.last_id;
    if (l->source.name)
        source_close(&l->source);
    stage_free(&view->stage);
    ties_clear(&view->ties);
    place_free(&view->place);
    view->place.zoom = ZOOM_FIRST;
    sites_free(l->sites);
    l->sites = NULL;
    l->connected = l->has_run = false;
    l->behind_ns = 0;
}

static void begin(struct view *view, struct source *source, const char *what)
{
    struct link *l = &view->link;
    link_close(view);
    source->last_id = l->last_id; /* no inquiry of before is taken for one of now */
    l->source = *source;
    l->source.book.named = true;
    l->connected = true;
    l->patience = g_timeout_add(250, on_patience, view);
    l->watch = g_unix_fd_add(source->fd, G_IO_IN | G_IO_HUP, on_bytes, view);
    const char *run = what && endpoint_is(what) ? strchr(what, '#') : NULL;
    link_select(view, run ? run + 1 : "");
    feed(view);
    link_runs(view);
    char *text = g_strdup_printf(source->is_file
                                     ? "Reading %s"
                                     : "On %s.  Start one:\n\n    poetcc -trace prodcons.c -o prodcons\n"
                                       "    ./prodcons\n\nor, as it is:\n\n    poet record ./program", source->name);
    window_empty(view, source->is_file ? "Opening" : "Waiting for a traced program", text);
    window_say(view, "%s %s", source->is_file ? "Opened" : "Connected to", source->name);
    gtk_widget_set_visible(view->banner, FALSE);
    settings_remember(view, what);
    window_titles(view);
    actions_update(view);
    g_free(text);
}

/* Opening may take a while (a large file, another host, a password): not in GTK's thread. */
struct opening {
    char *what;
    struct source source;
    struct error error;
    bool ok;
};

static void free_opening(gpointer data)
{
    struct opening *o = data;
    if (o->ok)
        source_close(&o->source);
    g_free(o->what);
    g_free(o);
}

static void open_in_thread(GTask *task, gpointer object, gpointer data, GCancellable *cancel)
{
    struct opening *o = data;
    (void)object;
    (void)cancel;
    o->ok = o->what ? source_open(&o->source, o->what, SOURCE_NO_RUN, &o->error)
                    : source_open_default(&o->source, &o->error);
    g_task_return_boolean(task, o->ok);
}

static void on_opened(GObject *object, GAsyncResult *result, gpointer data)
{
    struct view *view = data;
    GTask *task = G_TASK(result);
    struct opening *o = g_task_get_task_data(task);
    (void)object;
    if (g_cancellable_is_cancelled(g_task_get_cancellable(task)))
        return; /* another was opened meanwhile */
    view->link.opening = false;
    window_busy(view, NULL, 0);
    if (!o->ok) {
        window_trouble(view, "_Try again", "%s", o->error.text);
        if (!view->link.has_run)
            window_empty(view, "No trace", "Open a trace file, or connect to a server.");
        return;
    }
    o->ok = false; /* it is ours now */
    begin(view, &o->source, o->what);
}

void link_open(struct view *view, const char *what)
{
    struct opening *o = g_new0(struct opening, 1);
    struct link *l = &view->link;
    o->what = g_strdup(what);
    char *again = g_strdup(what); /* `what` may be ours */
    g_free(l->what);
    l->what = again;
    if (l->cancel) {
        g_cancellable_cancel(l->cancel);
        g_object_unref(l->cancel);
    }
    l->cancel = g_cancellable_new();
    l->opening = true;
    window_busy(view, what ? what : "the default endpoint", -1);
    GTask *task = g_task_new(NULL, l->cancel, on_opened, view);
    g_task_set_task_data(task, o, free_opening);
    g_task_run_in_thread(task, open_in_thread);
    g_object_unref(task);
}

#include "clients/view/parts/link.h"

#include "wire/asked.h"

#include <glib-unix.h>
#include <string.h>

void link_select(struct link *link, const char *run)
{
    struct out body = {0};
    put_string(&body, run);
    put_u8(&body, SELECT_NAMED_LINES);
    link->newest = !*run;
    link_ask(link, ASK_SELECT, &body, NULL, NULL);
}

uint32_t link_ask(struct link *link, enum ask what, struct out *body, source_take *take, void *user)
{
    if (link->connected)
        return source_ask(&link->source, what, body, take, user);
    if (body)
        out_free(body);
    return 0;
}

void link_feed(struct link *link, enum feed feed)
{
    struct out out = {0};
    if (!link->connected || link->fed == feed)
        return;
    link->fed = feed;
    out_begin(&out, MESSAGE_FEED);
    put_u8(&out, (uint8_t)feed);
    out_end(&out);
    source_send(&link->source, &out);
}

/* ---- names ---- */

void link_name(struct link *link, enum labels labels)
{
    struct book *book = link_book(link);
    if (!link->has_run || link->labelled == book->generation)
        return;
    label_lines(book, link->sites, &link->named, labels);
    link->labelled = book->generation;
}

void link_name_again(struct link *link, enum labels labels)
{
    label_again(link_book(link), link->sites, &link->named, labels);
}

/* ---- what is told without being asked ---- */

static void take_run(struct link *link)
{
    source_forget(&link->source); /* what was asked about another run */
    sites_free(link->sites);
    link->sites = sites_new();
    link->named = 0;
    link->labelled = 0;
    link->count = link_book(link)->run.events;
    link->has_run = true;
    link->ears->run(link->user);
}

static void take_newer(struct link *link, struct in *in)
{
    struct shown_run run;
    get_run(in, &run);
    if (in_done(in))
        link->ears->newer(link->user, run.name);
    shown_run_free(&run);
}

static void take_grown(struct link *link, struct in *in)
{
    get_u64(in);
    link->count = get_u64(in);
    link_book(link)->run.connected = get_u32(in);
    link->behind_ns = get_u64(in);
    link->ears->grown(link->user);
}

/* False: an answer was damaged. */
static bool take(struct link *link, unsigned type, struct in *in, struct error *error)
{
    link->ears->came(link->user);
    if (type == MESSAGE_SELECTED)
        take_run(link);
    else if (type == MESSAGE_NEWER)
        take_newer(link, in);
    else if (type == MESSAGE_GROWN)
        take_grown(link, in);
    return type != MESSAGE_ANSWER || source_answered(&link->source, in, error);
}

/* ---- the line itself ---- */

static void lost(struct link *link, const char *why)
{
    link->connected = false;
    link->behind_ns = 0;
    link_book(link)->run.connected = 0;
    link->ears->lost(link->user, why);
}

#define TURN_US 8000 /* then what was drawn is to be seen */

/* Takes what there is; false when the connection is over. */
static gboolean drain(struct link *link, bool *more)
{
    unsigned type;
    struct in in;
    struct error error;
    int got = 0;
    gint64 until = g_get_monotonic_time() + TURN_US;
    *more = false;
    while (!*more && (got = source_next(&link->source, false, &type, &in, &error)) > 0) {
        got = take(link, type, &in, &error) ? got : -1;
        *more = g_get_monotonic_time() > until;
        if (got < 0)
            break;
    }
    if (got < 0)
        lost(link, error.text);
    return got >= 0;
}

static gboolean on_more(gpointer data)
{
    struct link *link = data;
    bool more = false;
    if (link->connected && drain(link, &more) && more)
        return G_SOURCE_CONTINUE;
    link->more = 0;
    return G_SOURCE_REMOVE;
}

static gboolean on_bytes(gint fd, GIOCondition condition, gpointer data)
{
    struct link *link = data;
    bool more;
    (void)fd;
    (void)condition;
    if (!link->connected || !drain(link, &more)) {
        link->watch = 0;
        return G_SOURCE_REMOVE;
    }
    if (more && !link->more)
        link->more = g_idle_add(on_more, link);
    return G_SOURCE_CONTINUE;
}

void link_close(struct link *link)
{
    if (link->watch)
        g_source_remove(link->watch);
    if (link->more)
        g_source_remove(link->more);
    link->watch = link->more = 0;
    link->ears->closing(link->user);
    link->last_id = link->source.last_id;
    if (link->source.name)
        source_close(&link->source);
    sites_free(link->sites);
    link->sites = NULL;
    link->connected = link->has_run = false;
    link->behind_ns = 0;
}

static void begin(struct link *link, struct source *source, const char *what)
{
    link_close(link);
    source->last_id = link->last_id; /* no inquiry of before is taken for one of now */
    link->source = *source;
    link->source.book.named = true;
    link->connected = true;
    link->watch = g_unix_fd_add(source->fd, G_IO_IN | G_IO_HUP, on_bytes, link);
    const char *run = what && endpoint_is(what) ? strchr(what, '#') : NULL;
    link_select(link, run ? run + 1 : "");
    link->fed = FEED_OFF;
    link_feed(link, FEED_ON);
    link->ears->opened(link->user, what);
}

/* ---- opening ---- */

/* It may take a while (a large file, another host, a password): not in GTK's thread. */
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
    struct link *link = data;
    GTask *task = G_TASK(result);
    struct opening *o = g_task_get_task_data(task);
    (void)object;
    if (g_cancellable_is_cancelled(g_task_get_cancellable(task)))
        return; /* another was opened meanwhile */
    link->opening = false;
    if (!o->ok) {
        link->ears->failed(link->user, o->error.text);
        return;
    }
    o->ok = false; /* it is ours now */
    begin(link, &o->source, o->what);
}

void link_give_up(struct link *link)
{
    if (link->cancel)
        g_cancellable_cancel(link->cancel);
    link->opening = false;
}

void link_open(struct link *link, const char *what)
{
    struct opening *o = g_new0(struct opening, 1);
    o->what = g_strdup(what);
    char *again = g_strdup(what); /* `what` may be ours */
    g_free(link->what);
    link->what = again;
    if (link->cancel) {
        g_cancellable_cancel(link->cancel);
        g_object_unref(link->cancel);
    }
    link->cancel = g_cancellable_new();
    link->opening = true;
    link->ears->opening(link->user, again);
    GTask *task = g_task_new(NULL, link->cancel, on_opened, link);
    g_task_set_task_data(task, o, free_opening);
    g_task_run_in_thread(task, open_in_thread);
    g_object_unref(task);
}

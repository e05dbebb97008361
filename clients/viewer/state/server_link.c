#include "clients/viewer/state/server_link.h"

#include "wire/request.h"

#include <glib-unix.h>
#include <string.h>

char *server_link_source_argument(const struct server_link *link)
{
    const struct session *source = &link->source;
    return source->is_file ? g_strdup(source->name)
                           : g_strdup_printf("%.*s#%u", (int)strcspn(source->name, "#"),
                                             source->name, source->book.run.number);
}

void server_link_select(struct server_link *link, const char *run)
{
    struct encoder body = {0};
    encode_string(&body, run);
    encode_u8(&body, SELECT_NAMED_LINES);
    link->newest = !*run;
    server_link_request(link, REQUEST_SELECT, &body, NULL, NULL);
}

uint32_t server_link_request(struct server_link *link, enum request_type what, struct encoder *body,
                             source_take *take, void *user)
{
    if (link->connected)
        return session_send(&link->source, what, body, take, user);
    if (body)
        encoder_free(body);
    return 0;
}

void server_link_set_feed(struct server_link *link, enum feed feed)
{
    struct encoder out = {0};
    if (!link->connected || link->fed == feed)
        return;
    link->fed = feed;
    encoder_begin_message(&out, MESSAGE_SUBSCRIBE);
    encode_u8(&out, (uint8_t)feed);
    encoder_end_message(&out);
    session_send_message(&link->source, &out);
}

/* ---- names ---- */

void server_link_name_lines(struct server_link *link, enum labels labels)
{
    struct trace_metadata *book = server_link_metadata(link);
    if (!link->has_run || link->labelled == book->generation)
        return;
    line_labels_assign(book, link->sites, &link->named, labels);
    link->labelled = book->generation;
}

void server_link_rename_all_lines(struct server_link *link, enum labels labels)
{
    line_labels_reassign(server_link_metadata(link), link->sites, &link->named, labels);
}

/* ---- unsolicited messages ---- */

static void server_link_on_run_selected(struct server_link *link)
{
    session_forget_request(&link->source); /* requests about the previous run */
    symbolizer_free(link->sites);
    link->sites = symbolizer_new();
    link->named = 0;
    link->labelled = 0;
    link->count = server_link_metadata(link)->run.events;
    link->has_run = true;
    link->callbacks->run(link->user);
}

static void server_link_on_newer_run(struct server_link *link, struct decoder *in)
{
    struct run_info run;
    decode_run_info(in, &run);
    if (decoder_finish(in))
        link->callbacks->newer(link->user, run.name);
    run_info_free(&run);
}

static void server_link_on_run_updated(struct server_link *link, struct decoder *in)
{
    decode_u64(in);
    link->count = decode_u64(in);
    server_link_metadata(link)->run.connected = decode_u32(in);
    link->behind_ns = decode_u64(in);
    link->callbacks->updated(link->user);
}

/* Returns false if a response was damaged. */
static bool server_link_handle_message(struct server_link *link, unsigned type, struct decoder *in,
                                       struct error *error)
{
    link->callbacks->message(link->user);
    if (type == MESSAGE_RUN_SELECTED)
        server_link_on_run_selected(link);
    else if (type == MESSAGE_NEWER_RUN)
        server_link_on_newer_run(link, in);
    else if (type == MESSAGE_RUN_UPDATED)
        server_link_on_run_updated(link, in);
    return type != MESSAGE_RESPONSE || session_request_done(&link->source, in, error);
}

/* ---- connection ---- */

static void server_link_on_lost(struct server_link *link, const char *why)
{
    link->connected = false;
    link->behind_ns = 0;
    server_link_metadata(link)->run.connected = 0;
    link->callbacks->lost(link->user, why);
}

#define TURN_US 8000 /* of processing, before GTK draws */

/* Processes received messages for TURN_US at most; more: some may be left. Returns false if the
 * connection was lost. */
static gboolean server_link_process_messages(struct server_link *link, bool *more)
{
    unsigned type;
    struct decoder in;
    struct error error;
    int got = 0;
    gint64 until = g_get_monotonic_time() + TURN_US;
    *more = false;
    while (!*more && (got = session_receive(&link->source, false, &type, &in, &error)) > 0) {
        got = server_link_handle_message(link, type, &in, &error) ? got : -1;
        *more = g_get_monotonic_time() > until;
        if (got < 0)
            break;
    }
    if (got < 0)
        server_link_on_lost(link, error.text);
    return got >= 0;
}

static gboolean on_more(gpointer data)
{
    struct server_link *link = data;
    bool more = false;
    if (link->connected && server_link_process_messages(link, &more) && more)
        return G_SOURCE_CONTINUE;
    link->more = 0;
    return G_SOURCE_REMOVE;
}

static gboolean on_bytes(gint fd, GIOCondition condition, gpointer data)
{
    struct server_link *link = data;
    bool more;
    (void)fd;
    (void)condition;
    if (!link->connected || !server_link_process_messages(link, &more)) {
        link->watch = 0;
        return G_SOURCE_REMOVE;
    }
    if (more && !link->more)
        link->more = g_idle_add(on_more, link);
    return G_SOURCE_CONTINUE;
}

void server_link_close(struct server_link *link)
{
    if (link->watch)
        g_source_remove(link->watch);
    if (link->more)
        g_source_remove(link->more);
    link->watch = link->more = 0;
    link->callbacks->closing(link->user);
    link->last_id = link->source.last_id;
    if (link->source.name)
        session_close(&link->source);
    symbolizer_free(link->sites);
    link->sites = NULL;
    link->connected = link->has_run = false;
    link->behind_ns = 0;
}

static void server_link_connect(struct server_link *link, struct session *source, const char *what)
{
    server_link_close(link);
    source->last_id = link->last_id; /* so that earlier ids are not used again */
    link->source = *source;
    link->source.book.named = true;
    link->connected = true;
    link->watch = g_unix_fd_add(source->fd, G_IO_IN | G_IO_HUP, on_bytes, link);
    const char *run = what && endpoint_is(what) ? strchr(what, '#') : NULL;
    server_link_select(link, run ? run + 1 : "");
    link->fed = FEED_OFF;
    server_link_set_feed(link, FEED_ON);
    link->callbacks->opened(link->user, what);
}

/* ---- opening ---- */

/* A source that a separate thread opens: a large file, another host or a password may take a
 * while. */
struct server_link_opening {
    char *what;
    struct session source;
    struct error error;
    bool ok;
};

static void free_opening(gpointer data)
{
    struct server_link_opening *o = data;
    if (o->ok)
        session_close(&o->source);
    g_free(o->what);
    g_free(o);
}

static void open_in_thread(GTask *task, gpointer object, gpointer data, GCancellable *cancel)
{
    struct server_link_opening *o = data;
    (void)object;
    (void)cancel;
    o->ok = o->what ? session_open(&o->source, o->what, SESSION_NO_RUN, &o->error)
                    : session_open_default(&o->source, &o->error);
    g_task_return_boolean(task, o->ok);
}

static void on_opened(GObject *object, GAsyncResult *result, gpointer data)
{
    struct server_link *link = data;
    GTask *task = G_TASK(result);
    struct server_link_opening *o = g_task_get_task_data(task);
    (void)object;
    if (g_cancellable_is_cancelled(g_task_get_cancellable(task)))
        return; /* given up, or another source was opened */
    link->opening = false;
    if (!o->ok) {
        link->callbacks->failed(link->user, o->error.text);
        return;
    }
    o->ok = false; /* the link owns the session now */
    server_link_connect(link, &o->source, o->what);
}

void server_link_give_up(struct server_link *link)
{
    if (link->cancel)
        g_cancellable_cancel(link->cancel);
    link->opening = false;
}

void server_link_open(struct server_link *link, const char *what)
{
    struct server_link_opening *o = g_new0(struct server_link_opening, 1);
    o->what = g_strdup(what);
    char *again = g_strdup(what); /* `what` may be link->source_name */
    g_free(link->source_name);
    link->source_name = again;
    if (link->cancel) {
        g_cancellable_cancel(link->cancel);
        g_object_unref(link->cancel);
    }
    link->cancel = g_cancellable_new();
    link->opening = true;
    link->callbacks->opening(link->user, again);
    GTask *task = g_task_new(NULL, link->cancel, on_opened, link);
    g_task_set_task_data(task, o, free_opening);
    g_task_run_in_thread(task, open_in_thread);
    g_object_unref(task);
}

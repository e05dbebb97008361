#define _GNU_SOURCE
#include "clients/viewer/remote_goto.h"

#include "clients/viewer/diagram/breakpoints.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/status_line.h"
#include "wire/address.h"
#include "wire/endpoint.h"
#include "wire/event_types.h"
#include "wire/message.h"

#include <errno.h>
#include <glib-unix.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALLERS_MOST 8u
#define BODY_BYTES (1u << 18)
#define TIMEOUT_S 10 /* for a whole message */

struct remote_goto_caller {
    struct view *view;
    int fd;
    guint watch, timeout;
    GByteArray *bytes;
};

struct remote_goto {
    int fd;
    guint watch;
    char *path;
    struct remote_goto_caller callers[CALLERS_MOST]; /* fd -1: unused */
};

static const struct viewer_addon remote_goto_addon = {"remote_goto", sizeof(struct remote_goto)};

static struct remote_goto *remote_goto_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &remote_goto_addon);
}

/* ---- messages ---- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static void remote_goto_go_to_event(struct view *view, struct event_id at,
                                    const struct event_id *next, uint32_t count)
{
    char event[48];
    highlights_set(&view->highlights, next, count, NULL, 0);
    notifier_emit(&view->notifier, NOTIFY_HITS);
    if (!at.line)
        return;
    if (!event_id_equal(at, view->viewport.place.selected))
        go_to_event(view, at, NO_POSITION);
    event_id_print(event, sizeof event, at);
    status_line_show(&view->status_line, "The debugger stopped before %s", event);
}

/* Returns false if the message is invalid, or about another trace. */
static bool remote_goto_handle_message(struct view *view, struct decoder *in)
{
    uint32_t count = 0;
    char *trace = decode_string(in, PATH_MAX), *mine = NULL;
    struct event_id at = decode_event_id(in), *next = decode_event_ids(in, &count);
    bool shown = decoder_finish(in) && view->server_link.has_run;
    if (shown) {
        mine = breakpoints_trace_file(view);
        shown = mine && trace && is_same_file(mine, trace);
    }
    if (shown)
        remote_goto_go_to_event(view, at, next, count);
    g_free(mine);
    free(trace);
    free(next);
    return shown;
}

/* ---- callers ---- */

static void remote_goto_close_caller(struct remote_goto_caller *c)
{
    if (c->fd < 0)
        return;
    if (c->watch)
        g_source_remove(c->watch);
    if (c->timeout)
        g_source_remove(c->timeout);
    close(c->fd);
    g_byte_array_unref(c->bytes);
    *c = (struct remote_goto_caller){.fd = -1};
}

static void remote_goto_send_reply(struct remote_goto_caller *c, bool shown)
{
    struct encoder out = {0};
    encoder_begin_message(&out, MESSAGE_GOTO);
    encode_u8(&out, shown);
    encoder_end_message(&out);
    if (!out.failed && send(c->fd, out.data, out.size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        g_debug("lost connection to a debugger: %s", g_strerror(errno));
    encoder_free(&out);
}

/* Returns false if nothing more is expected from the caller. */
static bool remote_goto_read_message(struct remote_goto_caller *c)
{
    unsigned type;
    size_t length;
    const char *why;
    int got = frame_read(c->bytes->data, c->bytes->len, BODY_BYTES, &type, &length, &why);
    if (got > 0 && type == MESSAGE_GOTO) {
        struct decoder in = decoder_init(c->bytes->data + MESSAGE_FRAME_BYTES, length);
        remote_goto_send_reply(c, remote_goto_handle_message(c->view, &in));
    }
    return got == 0;
}

static gboolean on_bytes(gint fd, GIOCondition condition, gpointer data)
{
    struct remote_goto_caller *c = data;
    uint8_t bytes[4096];
    (void)condition;
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return G_SOURCE_CONTINUE;
    if (n > 0) {
        g_byte_array_append(c->bytes, bytes, (guint)n);
        if (remote_goto_read_message(c))
            return G_SOURCE_CONTINUE;
    }
    c->watch = 0;
    remote_goto_close_caller(c);
    return G_SOURCE_REMOVE;
}

static gboolean remote_goto_on_timeout(gpointer data)
{
    struct remote_goto_caller *c = data;
    c->timeout = 0;
    remote_goto_close_caller(c);
    return G_SOURCE_REMOVE;
}

static gboolean on_caller(gint fd, GIOCondition condition, gpointer data)
{
    struct view *view = data;
    struct remote_goto_caller *c = remote_goto_find(view)->callers, *end = c + CALLERS_MOST;
    (void)condition;
    int other = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (c < end && c->fd >= 0)
        c++;
    if (other >= 0 && c == end) {
        close(other);
    } else if (other >= 0) {
        *c = (struct remote_goto_caller){.view = view, .fd = other, .bytes = g_byte_array_new()};
        c->watch = g_unix_fd_add(other, G_IO_IN | G_IO_HUP, on_bytes, c);
        c->timeout = g_timeout_add_seconds(TIMEOUT_S, remote_goto_on_timeout, c);
    }
    return G_SOURCE_CONTINUE;
}

/* ---- listening ---- */

void remote_goto_begin(struct view *view)
{
    char directory[256];
    struct error error;
    if (!endpoint_directory(directory, sizeof directory, &error))
        return;
    char *endpoint = g_strdup_printf("unix:%s/poetview-%d.sock", directory, (int)getpid());
    int fd = address_listen(endpoint, &error);
    if (fd >= 0) {
        struct remote_goto *h = viewer_addons_add(&view->addons, &remote_goto_addon);
        h->fd = fd;
        h->path = g_strdup(endpoint + strlen("unix:"));
        for (unsigned i = 0; i < CALLERS_MOST; i++)
            h->callers[i].fd = -1;
        h->watch = g_unix_fd_add(fd, G_IO_IN, on_caller, view);
    }
    g_free(endpoint);
}

void remote_goto_end(struct view *view)
{
    struct remote_goto *h = remote_goto_find(view);
    if (!h)
        return;
    for (unsigned i = 0; i < CALLERS_MOST; i++)
        remote_goto_close_caller(&h->callers[i]);
    g_source_remove(h->watch);
    close(h->fd);
    unlink(h->path);
    g_free(h->path);
    viewer_addons_remove(&view->addons, &remote_goto_addon);
}

#define _GNU_SOURCE
#include "clients/view/heard.h"

#include "clients/view/parts/marked.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/stops.h"
#include "clients/view/picture/view.h"
#include "wire/address.h"
#include "wire/endpoint.h"
#include "wire/message.h"
#include "wire/ref.h"

#include <errno.h>
#include <glib-unix.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALLERS_MOST 8u
#define BODY_BYTES (1u << 18)
#define PATIENCE_S 10 /* for all of a message */

struct caller {
    struct view *view;
    int fd;
    guint watch, patience;
    GByteArray *bytes;
};

struct heard {
    int fd;
    guint watch;
    char *path;
    struct caller callers[CALLERS_MOST]; /* fd -1: nobody */
};

/* ---- what is asked ---- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static void go(struct view *view, struct ref at, const struct ref *next, uint32_t count)
{
    char event[48];
    marked_set(&view->marked, next, count, NULL, 0);
    news_tell(&view->news, NEWS_HITS);
    if (!at.line)
        return;
    if (!ref_equal(at, view->camera.place.selected))
        jump_to_event(view, at, NO_POSITION);
    ref_print(event, sizeof event, at);
    status_say(&view->status, "The debugger is before %s", event);
}

/* False: that is another trace, or no such message. */
static bool show(struct view *view, struct in *in)
{
    uint32_t count = 0;
    char *trace = get_string(in, PATH_MAX), *mine = NULL;
    struct ref at = get_ref(in), *next = get_refs(in, &count);
    bool shown = in_done(in) && view->link.has_run;
    if (shown) {
        mine = stops_trace(view);
        shown = mine && trace && is_same_file(mine, trace);
    }
    if (shown)
        go(view, at, next, count);
    g_free(mine);
    free(trace);
    free(next);
    return shown;
}

/* ---- who asks ---- */

static void leave(struct caller *c)
{
    if (c->fd < 0)
        return;
    if (c->watch)
        g_source_remove(c->watch);
    if (c->patience)
        g_source_remove(c->patience);
    close(c->fd);
    g_byte_array_unref(c->bytes);
    *c = (struct caller){.fd = -1};
}

static void answer(struct caller *c, bool shown)
{
    struct out out = {0};
    out_begin(&out, MESSAGE_SHOW);
    put_u8(&out, shown);
    out_end(&out);
    if (!out.failed && send(c->fd, out.data, out.size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        g_debug("a debugger has gone: %s", g_strerror(errno));
    out_free(&out);
}

/* False: no more of it is wanted. */
static bool take(struct caller *c)
{
    unsigned type;
    size_t length;
    const char *why;
    int got = frame_read(c->bytes->data, c->bytes->len, BODY_BYTES, &type, &length, &why);
    if (got > 0 && type == MESSAGE_SHOW) {
        struct in in = in_from(c->bytes->data + MESSAGE_FRAME_BYTES, length);
        answer(c, show(c->view, &in));
    }
    return got == 0;
}

static gboolean on_bytes(gint fd, GIOCondition condition, gpointer data)
{
    struct caller *c = data;
    uint8_t bytes[4096];
    (void)condition;
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return G_SOURCE_CONTINUE;
    if (n > 0) {
        g_byte_array_append(c->bytes, bytes, (guint)n);
        if (take(c))
            return G_SOURCE_CONTINUE;
    }
    c->watch = 0;
    leave(c);
    return G_SOURCE_REMOVE;
}

static gboolean on_patience(gpointer data)
{
    struct caller *c = data;
    c->patience = 0;
    leave(c);
    return G_SOURCE_REMOVE;
}

static gboolean on_caller(gint fd, GIOCondition condition, gpointer data)
{
    struct view *view = data;
    struct caller *c = view->heard->callers, *end = c + CALLERS_MOST;
    (void)condition;
    int other = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (c < end && c->fd >= 0)
        c++;
    if (other >= 0 && c == end) {
        close(other);
    } else if (other >= 0) {
        *c = (struct caller){.view = view, .fd = other, .bytes = g_byte_array_new()};
        c->watch = g_unix_fd_add(other, G_IO_IN | G_IO_HUP, on_bytes, c);
        c->patience = g_timeout_add_seconds(PATIENCE_S, on_patience, c);
    }
    return G_SOURCE_CONTINUE;
}

/* ---- listening ---- */

void heard_begin(struct view *view)
{
    char directory[256];
    struct error error;
    if (!endpoint_directory(directory, sizeof directory, &error))
        return;
    char *endpoint = g_strdup_printf("unix:%s/poetview-%d.sock", directory, (int)getpid());
    int fd = address_listen(endpoint, &error);
    if (fd >= 0) {
        struct heard *h = view->heard = g_new0(struct heard, 1);
        h->fd = fd;
        h->path = g_strdup(endpoint + strlen("unix:"));
        for (unsigned i = 0; i < CALLERS_MOST; i++)
            h->callers[i].fd = -1;
        h->watch = g_unix_fd_add(fd, G_IO_IN, on_caller, view);
    }
    g_free(endpoint);
}

void heard_end(struct view *view)
{
    struct heard *h = view->heard;
    if (!h)
        return;
    for (unsigned i = 0; i < CALLERS_MOST; i++)
        leave(&h->callers[i]);
    g_source_remove(h->watch);
    close(h->fd);
    unlink(h->path);
    g_free(h->path);
    g_free(h);
    view->heard = NULL;
}

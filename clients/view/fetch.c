#include "clients/view/fetch.h"

#include "clients/source/notes.h"
#include "clients/view/parts/compat.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/view.h"
#include "wire/ask.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/text.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

struct fetch {
    FILE *f; /* NULL: nothing is fetched */
    char *file;
    uint64_t size; /* of the trace, when it began */
    struct inquiry asked;
};

static struct fetch *fetch_of(struct view *view)
{
    if (!view->fetch)
        view->fetch = g_new0(struct fetch, 1);
    return view->fetch;
}

bool fetch_runs(const struct view *view) { return view->fetch && view->fetch->f; }

void fetch_cancel(struct view *view)
{
    struct fetch *fetch = fetch_of(view);
    inquiry_cancel(&view->link, &fetch->asked);
    if (!fetch->f)
        return;
    fclose(fetch->f);
    fetch->f = NULL;
    g_unlink(fetch->file);
    status_busy(&view->status, NULL, 0);
}

static void end(struct view *view, struct fetch *fetch, const char *why)
{
    struct error error;
    if (fclose(fetch->f) != 0 && !why)
        why = g_strerror(errno);
    fetch->f = NULL;
    status_busy(&view->status, NULL, 0);
    if (why)
        status_trouble(&view->status, NULL, "%s: %s", fetch->file, why);
    else if (!notes_copy(&view->noted.notes, fetch->file, &error))
        status_trouble(&view->status, NULL, "Saved %s, but not its notes: %s", fetch->file,
                       error.text);
    else
        status_say(&view->status, "Saved %s", fetch->file);
    if (why)
        g_unlink(fetch->file);
}

static void ask(struct view *view, struct fetch *fetch, uint64_t offset);

static void take_bytes(struct view *view, struct fetch *fetch, struct in *in)
{
    uint64_t offset = get_u64(in), size = get_u64(in);
    char *why = get_name(in, LIMIT_TEXT_BYTES);
    uint32_t n = get_count(in, 1);
    const uint8_t *bytes = get_bytes(in, n);
    if (offset == 0)
        fetch->size = size; /* as it is now; it may be growing */
    if (!in_done(in) || (why && *why))
        end(view, fetch, why && *why ? why : "the answer is damaged");
    else if (n && fwrite(bytes, 1, n, fetch->f) != n)
        end(view, fetch, g_strerror(errno));
    else if (!n || offset + n >= fetch->size)
        end(view, fetch, NULL);
    else
        ask(view, fetch, offset + n);
    if (fetch->f && size)
        status_busy(&view->status, fetch->file, (double)offset / (double)size);
    free(why);
}

static void take(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct fetch *fetch = fetch_of(view);
    if (fetch->f && answer->part == PART_BYTES)
        take_bytes(view, fetch, answer->in);
    else if (fetch->f)
        end(view, fetch, "the server does not give it");
}

static void ask(struct view *view, struct fetch *fetch, uint64_t offset)
{
    struct out body = {0};
    put_u64(&body, offset);
    inquiry_ask(&view->link, &fetch->asked, ASK_FETCH, &body, take, view);
}

void fetch_trace_to(struct view *view, const char *file)
{
    struct fetch *fetch = fetch_of(view);
    char *own =
        the_book(view)->run.file ? g_canonicalize_filename(the_book(view)->run.file, NULL) : NULL;
    g_free(fetch->file);
    fetch->file = g_strdup(file);
    if (g_strcmp0(own, fetch->file) == 0)
        status_say(&view->status, "%s is the trace itself", fetch->file);
    else if ((fetch->f = fopen(fetch->file, "wbe")) != NULL)
        ask(view, fetch, 0);
    else
        status_trouble(&view->status, NULL, "%s: %s", fetch->file, g_strerror(errno));
    g_free(own);
}

static void on_chosen(void *user, const char *path)
{
    struct view *view = user;
    if (path && view->link.connected && !fetch_runs(view))
        fetch_trace_to(view, path);
}

void fetch_trace(struct view *view)
{
    if (!view->link.connected || !view->link.has_run) {
        status_say(&view->status, "There is no trace to save");
        return;
    }
    char *name = g_strdup_printf("%s.poet", the_book(view)->run.name);
    compat_ask_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                          .title = "Save the trace",
                                          .saves = true,
                                          .name = name},
                    on_chosen, view);
    g_free(name);
}

#include "clients/viewer/trace_download.h"

#include "clients/connection/note_file.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/request.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/text.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

struct trace_download {
    FILE *f; /* NULL: no download */
    char *file;
    uint64_t size; /* of the trace, when it began */
    struct request_slot asked;
};

static const struct viewer_addon trace_download_addon = {"trace_download",
                                                         sizeof(struct trace_download)};

static struct trace_download *trace_download_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &trace_download_addon);
}

static struct trace_download *download_state(struct view *view)
{
    struct trace_download *state = trace_download_find(view);
    return state ? state : viewer_addons_add(&view->addons, &trace_download_addon);
}

bool trace_download_is_running(const struct view *view)
{
    struct trace_download *download = trace_download_find(view);
    return download && download->f;
}

void trace_download_cancel(struct view *view)
{
    struct trace_download *fetch = download_state(view);
    request_slot_cancel(&view->server_link, &fetch->asked);
    if (!fetch->f)
        return;
    fclose(fetch->f);
    fetch->f = NULL;
    g_unlink(fetch->file);
    status_line_show_progress(&view->status_line, NULL, 0);
}

static void download_finish(struct view *view, struct trace_download *fetch, const char *why)
{
    struct error error;
    if (fclose(fetch->f) != 0 && !why)
        why = g_strerror(errno);
    fetch->f = NULL;
    status_line_show_progress(&view->status_line, NULL, 0);
    if (why)
        status_line_show_problem(&view->status_line, NULL, "%s: %s", fetch->file, why);
    else if (!note_file_copy(&view->run_notes.notes, fetch->file, &error))
        status_line_show_problem(&view->status_line, NULL, "Saved %s, but not its notes: %s",
                                 fetch->file, error.text);
    else
        status_line_show(&view->status_line, "Saved %s", fetch->file);
    if (why)
        g_unlink(fetch->file);
}

static void download_request(struct view *view, struct trace_download *fetch, uint64_t offset);

static void download_receive_bytes(struct view *view, struct trace_download *fetch,
                                   struct decoder *in)
{
    uint64_t offset = decode_u64(in), size = decode_u64(in);
    char *why = decode_name(in, LIMIT_TEXT_BYTES);
    uint32_t n = decode_count(in, 1);
    const uint8_t *bytes = decode_bytes(in, n);
    if (offset == 0)
        fetch->size = size; /* at the start; it may be growing */
    if (!decoder_finish(in) || (why && *why))
        download_finish(view, fetch, why && *why ? why : "invalid response");
    else if (n && fwrite(bytes, 1, n, fetch->f) != n)
        download_finish(view, fetch, g_strerror(errno));
    else if (!n || offset + n >= fetch->size)
        download_finish(view, fetch, NULL);
    else
        download_request(view, fetch, offset + n);
    if (fetch->f && size)
        status_line_show_progress(&view->status_line, fetch->file, (double)offset / (double)size);
    free(why);
}

static void download_receive(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct trace_download *fetch = download_state(view);
    if (fetch->f && answer->part == RESPONSE_BYTES)
        download_receive_bytes(view, fetch, answer->in);
    else if (fetch->f)
        download_finish(view, fetch, "refused by the server");
}

static void download_request(struct view *view, struct trace_download *fetch, uint64_t offset)
{
    struct encoder body = {0};
    encode_u64(&body, offset);
    request_slot_send(&view->server_link, &fetch->asked, REQUEST_DOWNLOAD, &body, download_receive,
                      view);
}

void trace_download_start(struct view *view, const char *file)
{
    struct trace_download *fetch = download_state(view);
    char *own = view_metadata(view)->run.file
                    ? g_canonicalize_filename(view_metadata(view)->run.file, NULL)
                    : NULL;
    g_free(fetch->file);
    fetch->file = g_strdup(file);
    if (g_strcmp0(own, fetch->file) == 0)
        status_line_show(&view->status_line, "%s is the open trace itself", fetch->file);
    else if ((fetch->f = fopen(fetch->file, "wbe")) != NULL)
        download_request(view, fetch, 0);
    else
        status_line_show_problem(&view->status_line, NULL, "%s: %s", fetch->file,
                                 g_strerror(errno));
    g_free(own);
}

static void on_chosen(void *user, const char *path)
{
    struct view *view = user;
    if (path && view->server_link.connected && !trace_download_is_running(view))
        trace_download_start(view, path);
}

void trace_download_choose_file(struct view *view)
{
    if (!view->server_link.connected || !view->server_link.has_run) {
        status_line_show(&view->status_line, "No trace to save");
        return;
    }
    char *name = g_strdup_printf("%s.poet", view_metadata(view)->run.name);
    compat_choose_file(
        &(struct compat_file){
            .parent = GTK_WINDOW(view->window), .title = "Save trace", .saves = true, .name = name},
        on_chosen, view);
    g_free(name);
}

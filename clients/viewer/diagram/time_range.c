#include "clients/viewer/diagram/time_range.h"

#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/request_slot.h"
#include "render/scene_times.h"

#include <stdlib.h>

bool time_range_is_set(const struct view *view)
{
    const struct view_state_range *r = &view->viewport.place.range;
    return r->to_ns > r->from_ns;
}

/* ---- changes ---- */

void time_range_set_silently(struct view *view, const struct view_state_range *range)
{
    struct view_state_range *r = &view->viewport.place.range, old = *r;
    *r =
        range->to_ns > range->from_ns ? view_state_range_copy(range) : (struct view_state_range){0};
    free(old.lines);
    notifier_emit(&view->notifier, NOTIFY_RANGE);
}

void time_range_set(struct view *view, const struct view_state_range *range)
{
    bool none = range->to_ns <= range->from_ns && !time_range_is_set(view);
    if (none || view_state_range_equal(&view->viewport.place.range, range))
        return;
    history_mark(&view->history, "range");
    time_range_set_silently(view, range);
}

bool time_range_clear(struct view *view)
{
    static const struct view_state_range none;
    struct view_state *p = &view->viewport.place;
    if (!time_range_is_set(view) && !p->cursor_count)
        return false;
    history_mark(&view->history, "range");
    p->cursor_count = 0;
    time_range_set_silently(view, &none);
    return true;
}

void time_range_all_threads(struct view *view)
{
    struct view_state_range range = view->viewport.place.range;
    range.lines = NULL;
    range.line_count = 0;
    time_range_set(view, &range);
}

/* ---- cursors ---- */

void time_range_place_cursor(struct view *view, int64_t ns, bool second)
{
    struct view_state *p = &view->viewport.place;
    uint32_t at = second && p->cursor_count ? 1 : 0;
    history_mark(&view->history, "cursor");
    p->cursors_ns[at] = ns;
    p->cursor_count = at + 1;
    notifier_emit(&view->notifier, NOTIFY_RANGE);
}

bool time_range_event_ns(const struct view *view, struct event_id at, int64_t *ns)
{
    const struct event_info *e = at.line ? scene_cache_find_event(&view->scene_cache, at) : NULL;
    if (e)
        *ns = e->time_ns;
    return e != NULL;
}

void time_range_place_cursor_at_event(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    int64_t ns;
    if (!time_range_event_ns(view, p->selected, &ns))
        status_line_show(&view->status_line, "Select an event to place a cursor at it");
    else
        time_range_place_cursor(view, ns, p->cursor_count == 1 && p->cursors_ns[0] != ns);
}

/* ---- texts ---- */

char *time_range_time_text(int64_t ns)
{
    char text[48];
    time_columns_print(ns, 1, text, sizeof text);
    return g_strdup(text);
}

static void time_range_append_threads(struct view *view, GString *text)
{
    const struct view_state_range *r = &view->viewport.place.range;
    if (r->line_count == 1)
        g_string_append_printf(text, ", %s", metadata_label(view_metadata(view), r->lines[0]));
    else if (r->line_count)
        g_string_append_printf(text, ", %u threads", r->line_count);
}

char *time_range_text(struct view *view)
{
    const struct view_state_range *r = &view->viewport.place.range;
    char *from = time_range_time_text(r->from_ns), *to = time_range_time_text(r->to_ns),
         *length = time_range_time_text(r->to_ns - r->from_ns);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s – %s, %s long", from, to, length);
    time_range_append_threads(view, text);
    if (r->by_order)
        g_string_append(text, ", first to last event in between");
    g_free(from);
    g_free(to);
    g_free(length);
    return g_string_free(text, FALSE);
}

/* Returns the source as a word of a shell's command, quoted if necessary; the caller frees it. */
static char *time_range_source_word(const struct view *view)
{
    static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_./:@%+,=-";
    char *source = server_link_source_argument(&view->server_link);
    char *word = *source && strspn(source, plain) == strlen(source) ? g_strdup(source)
                                                                    : g_shell_quote(source);
    g_free(source);
    return word;
}

/* Returns a command about the range: "show" draws it, of its threads; "view" opens it. The caller
 * frees it. */
static char *time_range_command(struct view *view, const char *command)
{
    const struct view_state *p = &view->viewport.place;
    char *source = time_range_source_word(view);
    GString *text = g_string_new(NULL);
    bool shows = strcmp(command, "show") == 0;
    g_string_append_printf(text, "poet %s %s --from %lldns --to %lldns%s", command, source,
                           (long long)p->range.from_ns, (long long)p->range.to_ns,
                           shows && p->column_ns ? " --time" : "");
    for (uint32_t i = 0; shows && i < p->range.line_count; i++)
        g_string_append_printf(text, "%s%u", i ? "," : " --lines ", p->range.lines[i]);
    g_free(source);
    return g_string_free(text, FALSE);
}

static void time_range_copy_text(struct view *view, char *text)
{
    gdk_clipboard_set_text(gtk_widget_get_clipboard(view->canvas), text);
    status_line_show(&view->status_line, "Copied: %s", text);
    g_free(text);
}

void time_range_copy(struct view *view)
{
    if (time_range_is_set(view))
        time_range_copy_text(view, time_range_command(view, "show"));
    else
        status_line_show(&view->status_line, "Select a range to copy it: drag over the ruler");
}

void time_range_copy_link(struct view *view)
{
    if (time_range_is_set(view))
        time_range_copy_text(view, time_range_command(view, "view"));
    else
        status_line_show(&view->status_line, "Select a range to copy it: drag over the ruler");
}

void time_range_print(struct view *view, FILE *f)
{
    const struct view_state *p = &view->viewport.place;
    fprintf(f, "range %lld %lld lines", (long long)p->range.from_ns, (long long)p->range.to_ns);
    for (uint32_t i = 0; i < p->range.line_count; i++)
        fprintf(f, " %u", p->range.lines[i]);
    fprintf(f, " cursors");
    for (uint32_t i = 0; i < p->cursor_count; i++)
        fprintf(f, " %lld", (long long)p->cursors_ns[i]);
    char *text = time_range_is_set(view) ? time_range_text(view) : g_strdup("whole run"),
         *show = time_range_command(view, "show"), *link = time_range_command(view, "view");
    fprintf(f, "\n%s\n%s\n%s\n", show, link, text);
    g_free(link);
    g_free(show);
    g_free(text);
}

/* ---- requests ---- */

void time_range_limit(const struct view *view, struct table_request *request)
{
    const struct view_state_range *r = &view->viewport.place.range;
    if (!time_range_is_set(view))
        return;
    request->from = (struct table_end){.is = TABLE_AT_NS, .at = r->from_ns};
    request->to = (struct table_end){.is = TABLE_AT_NS, .at = r->to_ns};
}

void time_range_limit_threads(const struct view *view, struct table_request *request)
{
    const struct view_state_range *r = &view->viewport.place.range;
    time_range_limit(view, request);
    if (!time_range_is_set(view) || request->line_count || !r->line_count)
        return;
    request->lines = g_memdup2(r->lines, r->line_count * sizeof *r->lines);
    request->line_count = r->line_count;
}

#define BESIDE 2 /* columns on either side of an end, so that its event is among them */

struct range_ends {
    struct request_slot asked;
    bool selecting; /* else it looks for the positions of the selected range */
    unsigned known; /* ends, of two */
    uint64_t positions[2];
    int64_t times_ns[2];
    struct view_state_range range; /* that is being selected, or has known positions */
};

static const struct viewer_addon range_ends_addon = {"range_ends", sizeof(struct range_ends)};

static struct range_ends *range_ends_state(struct view *view)
{
    struct range_ends *e = viewer_addons_find(&view->addons, &range_ends_addon);
    return e ? e : viewer_addons_add(&view->addons, &range_ends_addon);
}

static void range_ends_hold(struct range_ends *e, const struct view_state_range *range)
{
    struct view_state_range copy = view_state_range_copy(range);
    free(e->range.lines);
    e->range = copy;
    e->known = 0;
}

/* Returns the time of the event at a position, or of the nearest one; 0 if there is none. */
static int64_t range_ends_time_at(const struct window_info *w, uint64_t position)
{
    const struct event_info *best = NULL;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < w->event_count; i++) {
        uint64_t at = w->events[i].position, off = at > position ? at - position : position - at;
        if (at != NO_POSITION && off < least) {
            best = &w->events[i];
            least = off;
        }
    }
    return best ? best->time_ns : 0;
}

static void range_ends_request(struct view *view, struct range_ends *e);

static void range_ends_finish(struct view *view, struct range_ends *e)
{
    if (!e->selecting) {
        gtk_widget_queue_draw(view->canvas);
        return;
    }
    struct view_state_range range = e->range;
    range.from_ns = MIN(e->times_ns[0], e->times_ns[1]);
    range.to_ns = MAX(e->times_ns[0], e->times_ns[1]) + 1;
    range.by_order = true;
    time_range_set(view, &range);
}

static void range_ends_receive(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct range_ends *e = range_ends_state(view);
    struct window_info window;
    if (!request_slot_read_window(answer, &window))
        return;
    if (e->selecting)
        e->times_ns[e->known] = range_ends_time_at(&window, e->positions[e->known]);
    else
        e->positions[e->known] = window.anchor;
    window_info_free(&window);
    e->known++;
    e->known < 2 ? range_ends_request(view, e) : range_ends_finish(view, e);
}

/* Requests a window around the next end. */
static void range_ends_request(struct view *view, struct range_ends *e)
{
    struct window_request request = {.anchor = e->selecting ? ANCHOR_POSITION : ANCHOR_TIME,
                                     .position = e->positions[e->known],
                                     .time_ns = e->known ? e->range.to_ns : e->range.from_ns,
                                     .from = -BESIDE,
                                     .columns = 2 * BESIDE + 1};
    request_slot_request_window(&view->server_link, &e->asked, &request, range_ends_receive, view);
}

void range_ends_select(struct view *view, uint64_t first, uint64_t last,
                       const struct view_state_range *range)
{
    struct range_ends *e = range_ends_state(view);
    if (!view->server_link.connected)
        return;
    range_ends_hold(e, range);
    e->positions[0] = first;
    e->positions[1] = last;
    e->selecting = true;
    range_ends_request(view, e);
}

bool range_ends_positions(struct view *view, double *first, double *last)
{
    struct range_ends *e = range_ends_state(view);
    const struct view_state_range *r = &view->viewport.place.range;
    if (range_ends_is_busy(view) || !view->server_link.connected)
        return false;
    if (e->selecting || e->known < 2 || !view_state_range_equal(&e->range, r)) {
        range_ends_hold(e, r);
        e->selecting = false;
        range_ends_request(view, e);
        return false;
    }
    *first = (double)e->positions[0];
    *last = (double)e->positions[1];
    return true;
}

bool range_ends_is_busy(struct view *view)
{
    return request_slot_is_running(&view->server_link, &range_ends_state(view)->asked);
}

void range_ends_clear(struct view *view)
{
    struct range_ends *e = range_ends_state(view);
    request_slot_cancel(&view->server_link, &e->asked);
    range_ends_hold(e, &(struct view_state_range){0});
}

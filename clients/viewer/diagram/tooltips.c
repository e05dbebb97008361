#include "clients/viewer/diagram/tooltips.h"

#include "clients/metadata/hang_text.h"
#include "clients/metadata/event_text.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/legend.h"
#include "wire/trace_view.h"

static char *tooltip_duration_text(int64_t ns)
{
    char s[32];
    duration_text(s, sizeof s, ns);
    return g_strdup(s);
}

char *tooltip_event_text(struct view *view, const struct event_info *e)
{
    const struct trace_metadata *book = view_metadata(view);
    GString *s = g_string_new(NULL);
    char *sentence = event_text(view_metadata(view), e), *time = tooltip_duration_text(e->time_ns);
    g_string_append_printf(s, "%s\nat %s", sentence, time);
    if (e->waited_ns > 0) {
        char *waited = tooltip_duration_text(e->waited_ns);
        g_string_append_printf(s, ", after waiting for %s", waited);
        g_free(waited);
    } else if (e->since_ns > 0) {
        char *since = tooltip_duration_text(e->since_ns);
        g_string_append_printf(s, ", %s after the previous event on its line", since);
        g_free(since);
    }
    if (e->thread && e->thread != e->at.line)
        g_string_append_printf(s, "\nthread %s", metadata_label(book, e->thread));
    if (e->site) {
        struct symbol_location site = symbolize(view->server_link.sites, e->process, e->site);
        g_string_append_printf(s, "\n%s %s", site.function, site.place);
    }
    const char *note = note_file_text(&view->run_notes.notes, e->at);
    if (note)
        g_string_append_printf(s, "\n⚑ %s", note);
    g_free(sentence);
    g_free(time);
    return g_string_free(s, FALSE);
}

/* Returns where the row's thread is, and what it waits for; NULL: it is on its own line. */
static char *tooltip_overview_text(struct view *view, uint32_t row, double x_pt)
{
    const struct trace_metadata *book = view_metadata(view);
    const struct scene *s = view->scene_cache.scene;
    const struct scene_segment *at = NULL;
    for (uint32_t i = 0; i < s->segment_count && !at; i++)
        if (s->segments[i].row == row && s->segments[i].from_pt <= x_pt &&
            s->segments[i].to_pt >= x_pt)
            at = &s->segments[i];
    if (!at || (at->style != STYLE_ELSEWHERE && at->style != STYLE_WAITS))
        return NULL;
    GString *text = g_string_new(s->rows[row].label);
    g_string_append_printf(text, ": %s %s", at->on ? "in" : "on another line",
                           at->on ? metadata_label(book, at->on) : "");
    if (at->waits) {
        const char *about = metadata_expand_text(book, at->waits->text, at->about);
        g_string_append_printf(text, ", %s%s%s", at->waits->text, *about ? " " : "", about);
    }
    if (at->ns >= 0) {
        char *time = tooltip_duration_text(at->ns);
        g_string_append_printf(text, " for %s", time);
        g_free(time);
    }
    return g_string_free(text, FALSE);
}

char *tooltip_stretch_text(struct view *view, uint32_t row, double x_pt)
{
    const struct scene *s = view->scene_cache.scene;
    char *overview = tooltip_overview_text(view, row, x_pt);
    if (overview)
        return overview;
    const struct scene_mark *before = NULL, *after = NULL;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        if (m->row != row || m->state == EVENT_PENDING)
            continue;
        if (m->x_pt <= x_pt)
            before = m;
        else if (!after)
            after = m;
    }
    struct occupants in = before ? before->event->in : view->scene_cache.window.rows[row].in;
    const char *what = in.active    ? NULL
                       : in.away    ? legend_style_words[STYLE_THIN]
                       : in.blocked ? legend_style_words[STYLE_DASHED]
                                    : NULL;
    if (!what || !after || after->event->since_ns < 0)
        return what ? g_strdup_printf("%s: %s", s->rows[row].label, what) : NULL;
    char *time = tooltip_duration_text(after->event->since_ns);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s: %s, for %s", s->rows[row].label, what, time);
    if (after->event->waited_ns > 0 && after->event->waited_ns != after->event->since_ns) {
        char *waited = tooltip_duration_text(after->event->waited_ns);
        g_string_append_printf(text, "\n%s had been blocked for %s",
                               metadata_label(view_metadata(view), after->event->thread), waited);
        g_free(waited);
    }
    g_free(time);
    return g_string_free(text, FALSE);
}

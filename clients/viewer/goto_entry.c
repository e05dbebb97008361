#include "clients/viewer/goto_entry.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/sidebar/notes_panel.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

#include <string.h>

/* Returns the nanoseconds in a unit; 0: not a unit of time. */
static double unit_ns(const char *unit)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(unit, units[i].unit) == 0)
            return units[i].ns;
    return 0;
}

static char *go_event(struct view *view, const char *text, struct event_id at)
{
    const struct trace_metadata *book =
        view_metadata(view); /* with very many lines, not all are known yet */
    const struct line_metadata *line = metadata_line(book, at.line);
    bool there = at.line && (book->some ? at.line <= book->line_count : line != NULL);
    if (!there || at.line & HIDDEN_LINE)
        return g_strdup_printf("%s: no such line", text);
    if (line &&
        (!at.number || (line->is.last && at.number > line->is.last && !book->run.connected)))
        return g_strdup_printf("%s: the last event of that line is %u:%" G_GUINT64_FORMAT, text,
                               at.line, (guint64)line->is.last);
    go_to_event(view, at, NO_POSITION);
    return NULL;
}

/* Goes to "2:17", "40%", "1.5ms", "12345" (a position) or "#3" (a note). */
char *goto_entry_apply(struct view *view, const char *text)
{
    struct event_id at;
    char *end;
    double v = g_ascii_strtod(text, &end);
    if (*text == '#')
        return notes_panel_go_to(view, g_ascii_strtoull(text + 1, NULL, 10))
                   ? NULL
                   : g_strdup_printf("%s: no such note", text);
    if (event_id_parse(text, &at))
        return go_event(view, text, at);
    g_strchug(end);
    bool number = end != text && v >= 0;
    if (number && strcmp(end, "%") == 0)
        go_to_position(view, (uint64_t)(CLAMP(v, 0, 100) / 100 * (double)view->server_link.count));
    else if (number && unit_ns(end) > 0)
        go_to_time(view, (int64_t)(v * unit_ns(end)));
    else if (number && !*end)
        go_to_position(view, (uint64_t)v);
    else
        return g_strdup_printf(
            "%s: invalid position; enter an event (2:17), a time (1.5ms), a share "
            "(40%%), a position or a note (#2)",
            text);
    return NULL;
}

void goto_entry_show(struct view *view)
{
    if (view->server_link.has_run)
        dialog_prompt(view,
                      &(struct dialog_question){
                          .title = "Go to",
                          .words = "Event (2:17), time (1.5ms), share of the run (40%), position "
                                   "in the trace (12345) or note (#2)",
                          .placeholder = "2:17",
                          .button = "_Go"},
                      goto_entry_apply);
}

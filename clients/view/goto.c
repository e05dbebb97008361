#include "clients/view/goto.h"

#include "clients/book/book.h"
#include "clients/view/dialog.h"
#include "clients/view/panels/bookmarks.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"
#include "wire/event.h"
#include "wire/shown.h"

#include <string.h>

/* "2:17", "40%", "1.5ms", "12345" (a position), "#3" (a bookmark) */
void goto_text(struct view *view, const char *text)
{
    struct ref at;
    char *end;
    double v = g_ascii_strtod(text, &end);
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    guint64 mark = *text == '#' ? g_ascii_strtoull(text + 1, NULL, 10) : 0;
    if (mark && bookmarks_go(view, mark))
        return;
    if (ref_parse(text, &at)) {
        const struct book *book = the_book(view); /* of many lines not all are known yet */
        bool there = at.line &&
                     (book->some ? at.line <= book->line_count : book_line(book, at.line) != NULL);
        if (there && !(at.line & HIDDEN_LINE))
            jump_to_event(view, at, NO_POSITION);
        else
            status_say(&view->status, "%s: there is no such line", text);
        return;
    }
    g_strchug(end);
    if (end != text && strcmp(end, "%") == 0) {
        jump_to_position(view, (uint64_t)(CLAMP(v, 0, 100) / 100 * (double)view->link.count));
        return;
    }
    for (size_t i = 0; end != text && i < G_N_ELEMENTS(units); i++)
        if (strcmp(end, units[i].unit) == 0) {
            jump_to_time(view, (int64_t)(v * units[i].ns));
            return;
        }
    if (end != text && !*end && v >= 0)
        jump_to_position(view, (uint64_t)v);
    else
        status_say(&view->status,
                   "%s: write an event (2:17), a time (1.5ms), a share (40%%), a position or a "
                   "bookmark (#2)",
                   text);
}

void goto_dialog(struct view *view)
{
    if (view->link.has_run)
        dialog_ask(view, "Go to",
                   "An event (2:17), a time (1.5ms), a share of the run (40%),\n"
                   "a position in the log (12345) or a bookmark (#2)",
                   "2:17", goto_text);
}

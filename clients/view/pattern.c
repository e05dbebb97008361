#include "clients/view/pattern.h"

#include "clients/source/label.h"
#include "clients/view/dialog.h"
#include "clients/view/picture/arrange.h"
#include "clients/view/picture/cluster.h"
#include "clients/view/picture/view.h"

static const char words[] = "Lines whose names match: * stands for anything, ? for one letter";

/* False: no line is called so. */
static bool any(struct view *view, const char *pattern)
{
    const struct book *book = the_book(view);
    for (uint32_t line = 1; line <= book->line_count; line++)
        if (book_line(book, line) && book_drawn(book, line) &&
            label_is_called(book, view->link.sites, line, pattern))
            return true;
    return false;
}

static char *none(const char *pattern) { return g_strdup_printf("No line is called %s", pattern); }

static char *join(struct view *view, const char *pattern)
{
    if (!any(view, pattern))
        return none(pattern);
    cluster_by_pattern(view, pattern);
    return NULL;
}

static char *hide(struct view *view, const char *pattern)
{
    if (!any(view, pattern))
        return none(pattern);
    arrange_hide_pattern(view, pattern);
    return NULL;
}

static void ask(struct view *view, const char *title, const char *button,
                char *(*answer)(struct view *view, const char *text))
{
    struct dialog_question question = {title, words, "worker*", NULL, button};
    if (view->link.has_run)
        dialog_ask(view, &question, answer);
}

void pattern_join(struct view *view) { ask(view, "Join lines", "_Join", join); }
void pattern_hide(struct view *view) { ask(view, "Hide lines", "_Hide", hide); }

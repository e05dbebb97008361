#include "clients/viewer/pattern_dialog.h"

#include "clients/connection/line_labels.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/line_groups.h"
#include "clients/viewer/diagram/viewer.h"

static const char pattern_dialog_help_text[] =
    "Lines whose names match (* matches any characters, ? one)";

/* Returns whether the name of any line matches. */
static bool pattern_dialog_matches_any_line(struct view *view, const char *pattern)
{
    const struct trace_metadata *book = view_metadata(view);
    for (uint32_t line = 1; line <= book->line_count; line++)
        if (metadata_line(book, line) && metadata_line_is_visible(book, line) &&
            line_label_matches(book, view->server_link.sites, line, pattern))
            return true;
    return false;
}

static char *pattern_dialog_no_match_text(const char *pattern)
{
    return g_strdup_printf("No line named %s", pattern);
}

static char *pattern_dialog_join_lines(struct view *view, const char *pattern)
{
    if (!pattern_dialog_matches_any_line(view, pattern))
        return pattern_dialog_no_match_text(pattern);
    line_groups_by_pattern(view, pattern);
    return NULL;
}

static char *pattern_dialog_hide_lines(struct view *view, const char *pattern)
{
    if (!pattern_dialog_matches_any_line(view, pattern))
        return pattern_dialog_no_match_text(pattern);
    line_arrangement_hide_pattern(view, pattern);
    return NULL;
}

static void pattern_dialog_show(struct view *view, const char *title, const char *button,
                                char *(*answer)(struct view *view, const char *text))
{
    struct dialog_question question = {title, pattern_dialog_help_text, "worker*", NULL, button};
    if (view->server_link.has_run)
        dialog_prompt(view, &question, answer);
}

void pattern_dialog_join(struct view *view)
{
    pattern_dialog_show(view, "Group lines matching", "_Group", pattern_dialog_join_lines);
}
void pattern_dialog_hide(struct view *view)
{
    pattern_dialog_show(view, "Hide lines matching", "_Hide", pattern_dialog_hide_lines);
}

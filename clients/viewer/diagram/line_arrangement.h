/* The arrangement of lines: visibility, order, and groups, which are several lines in one row.
 *
 * Each change can be undone. */
#ifndef CLIENTS_VIEWER_DIAGRAM_LINE_ARRANGEMENT_H
#define CLIENTS_VIEWER_DIAGRAM_LINE_ARRANGEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct view;

void line_arrangement_show_all(struct view *view);
void line_arrangement_hide(struct view *view, uint32_t line);
/* Hides the lines with matching names, as of fnmatch. */
void line_arrangement_hide_pattern(struct view *view, const char *pattern);
/* Hides rows that have no visible event ordered with the selected one. */
void line_arrangement_show_tied(struct view *view);
/* Pins the line at the top, or unpins it. */
void line_arrangement_toggle_pin(struct view *view, uint32_t line);
/* Keeps only these lines of those that are not pinned, and those in one row with one of them. */
void line_arrangement_keep_lines(struct view *view, const uint32_t *lines, uint32_t count);
void line_arrangement_move(struct view *view, uint32_t line, int by);
/* Moves the line to before another one; before line 0: it becomes the last. */
void line_arrangement_move_before(struct view *view, uint32_t line, uint32_t before);
/* Orders the rows such that few arrows cross. */
void line_arrangement_reduce_crossings(struct view *view);

/* ---- groups ---- */

enum line_group_rule { GROUP_BY_PROCESS, GROUP_BY_KIND, GROUP_BY_NAME, GROUP_BY_DESCRIPTION };

void line_groups_by(struct view *view, enum line_group_rule rule);
/* Joins all lines with matching names, as of fnmatch, into one row, at the first of them. */
void line_groups_by_pattern(struct view *view, const char *pattern);
/* Makes the groups of the description, if it has any. */
void line_groups_use_default(struct view *view);
/* Joins the line with the row above. */
void line_groups_join(struct view *view, uint32_t line);
void line_groups_split(struct view *view, uint32_t line);
/* Returns whether the line is in a group. */
bool line_groups_contains(const struct view *view, uint32_t line);

#endif

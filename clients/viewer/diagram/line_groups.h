/* Line groups: several lines in one row. */
#ifndef CLIENTS_VIEWER_DIAGRAM_LINE_GROUPS_H
#define CLIENTS_VIEWER_DIAGRAM_LINE_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct view;

enum line_group_rule { GROUP_BY_PROCESS, GROUP_BY_KIND, GROUP_BY_NAME, GROUP_BY_DESCRIPTION };

void line_groups_by(struct view *view, enum line_group_rule rule);
void line_groups_by_pattern(struct view *view, const char *pattern); /* as of fnmatch, on names */
void line_groups_use_default(struct view *view); /* those of the description, if any */
void line_groups_join(struct view *view, uint32_t line); /* with the row above */
void line_groups_split(struct view *view, uint32_t line);
bool line_groups_contains(const struct view *view, uint32_t line); /* whether it is in one */

#endif

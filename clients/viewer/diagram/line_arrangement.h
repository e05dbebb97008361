/* The arrangement of lines: visibility and order. */
#ifndef CLIENTS_VIEWER_DIAGRAM_LINE_ARRANGEMENT_H
#define CLIENTS_VIEWER_DIAGRAM_LINE_ARRANGEMENT_H

#include <stdint.h>

struct view;

void line_arrangement_show_all(struct view *view);
void line_arrangement_hide(struct view *view, uint32_t line);
void line_arrangement_hide_pattern(struct view *view,
                                   const char *pattern); /* as of fnmatch, on names */
void line_arrangement_show_tied(
    struct view *view); /* those related to the selected event in the diagram */
void line_arrangement_toggle_pin(struct view *view,
                                 uint32_t line); /* pins it at the top, or unpins it */
/* Keeps only these lines of those that are not pinned, and those in one row with one of them. */
void line_arrangement_keep_lines(struct view *view, const uint32_t *lines, uint32_t count);
void line_arrangement_move(struct view *view, uint32_t line, int by);
void line_arrangement_move_before(struct view *view, uint32_t line,
                                  uint32_t before); /* before line 0: last */

#endif

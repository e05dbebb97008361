/* Which lines are shown, and in which order. */
#ifndef CLIENTS_VIEW_PICTURE_ARRANGE_H
#define CLIENTS_VIEW_PICTURE_ARRANGE_H

#include <stdint.h>

struct view;

void arrange_all(struct view *view);
void arrange_hide(struct view *view, uint32_t line);
void arrange_hide_pattern(struct view *view, const char *pattern); /* as of fnmatch, on names */
void arrange_only(struct view *view); /* those that the selected event is tied to, in the picture */
void arrange_pin(struct view *view, uint32_t line); /* on top, or lets it go again */
/* Of those that are not pinned, only these lines, and those that are one row with one of them. */
void arrange_keep(struct view *view, const uint32_t *lines, uint32_t count);
void arrange_shift(struct view *view, uint32_t line, int by);
void arrange_drop(struct view *view, uint32_t line, uint32_t before); /* before line 0: last */

#endif

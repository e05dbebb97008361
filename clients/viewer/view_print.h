/* Printing the visible part, without margins, after requesting it again: on paper, as text, as a
 * scene in a file. */
#ifndef CLIENTS_VIEWER_VIEW_PRINT_H
#define CLIENTS_VIEWER_VIEW_PRINT_H

struct view;

void view_print_paper(struct view *view);
void view_print_to_clipboard(struct view *view);
void view_print_to_file(struct view *view, const char *file); /* a scene, as text */

#endif

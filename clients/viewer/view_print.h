/* Printing the visible part, without margins, after requesting it again: on paper, as text, as a
 * scene in a file. */
#ifndef CLIENTS_VIEWER_VIEW_PRINT_H
#define CLIENTS_VIEWER_VIEW_PRINT_H

#include <stdio.h>

struct view;

void view_print_paper(struct view *view);
void view_print_to_clipboard(struct view *view);
/* Prints a scene as text, and closes the file then. */
void view_print_to_file(struct view *view, FILE *f);

#endif

/* Where in the window a script finds things, in pixels of the window, written to a file: what a
 * test clicks at. */
#ifndef CLIENTS_VIEWER_SCRIPT_COORDINATES_H
#define CLIENTS_VIEWER_SCRIPT_COORDINATES_H

struct view;

/* Marks, names and their arrows, the map, buttons that can be pressed, and a free place of the
 * picture. */
void script_coordinates_write(struct view *view, const char *file);
/* Where rows are: their lines, how high they are and the middle of each, of the canvas. */
void script_coordinates_write_rows(struct view *view, const char *file);

#endif

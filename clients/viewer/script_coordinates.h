/* Coordinates of items in the window, in pixels, written to a file so that tests can click on
 * them. */
#ifndef CLIENTS_VIEWER_SCRIPT_COORDINATES_H
#define CLIENTS_VIEWER_SCRIPT_COORDINATES_H

struct view;

/* Writes marks, names and their arrows, the overview map, enabled buttons, and an empty place of
 * the diagram. */
void script_coordinates_write(struct view *view, const char *file);
/* Writes the rows: their lines, their height and the middle of each, in canvas coordinates. */
void script_coordinates_write_rows(struct view *view, const char *file);

#endif

/* poet view --script FILE: executes the commands in a file, for tests, measurements and
 * demonstrations. */
#ifndef CLIENTS_VIEWER_VIEWER_SCRIPT_H
#define CLIENTS_VIEWER_VIEWER_SCRIPT_H

struct view;

void viewer_script_run(struct view *view, const char *file);

#endif

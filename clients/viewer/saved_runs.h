/* The runs that are kept on this machine, to choose one of: when each was, how long, and how it
 * ended. */
#ifndef CLIENTS_VIEWER_SAVED_RUNS_H
#define CLIENTS_VIEWER_SAVED_RUNS_H

struct view;

void saved_runs_show(struct view *view);

#endif

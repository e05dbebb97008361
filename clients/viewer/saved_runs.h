/* The chooser for saved runs on this host: when each ran, how long, and how it ended. */
#ifndef CLIENTS_VIEWER_SAVED_RUNS_H
#define CLIENTS_VIEWER_SAVED_RUNS_H

struct view;

void saved_runs_show(struct view *view);

#endif

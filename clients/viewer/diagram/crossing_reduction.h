/* Row order with few crossings of arrows. */
#ifndef CLIENTS_VIEWER_DIAGRAM_CROSSING_REDUCTION_H
#define CLIENTS_VIEWER_DIAGRAM_CROSSING_REDUCTION_H

struct view;

void crossing_reduction_run(struct view *view);

#endif

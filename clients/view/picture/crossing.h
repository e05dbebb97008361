/* The order of rows in which arrows cross the fewest others. */
#ifndef CLIENTS_VIEW_PICTURE_CROSSING_H
#define CLIENTS_VIEW_PICTURE_CROSSING_H

struct view;

void crossing_reduction_run(struct view *view);

#endif

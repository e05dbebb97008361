/* From the selected event to another one: along its line, across, along the order, along the
 * recording. */
#ifndef CLIENTS_VIEW_PICTURE_STEP_H
#define CLIENTS_VIEW_PICTURE_STEP_H

#include "clients/view/parts/inquiry.h"

struct view;

struct step {
    struct inquiry asked;
};

void step_along(struct view *view, int step); /* its line */
void step_across(struct view *view, int rows); /* to the neighbouring line */
void step_partner(struct view *view);
void step_to(struct view *view, enum asked_step step);
/* Along the recorded order, on lines that are shown. */
void step_recorded(struct view *view, int step);
void step_recorded_into(struct view *view, int step); /* into clusters, too: opens them */

#endif

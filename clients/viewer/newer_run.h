/* A run that has begun while another is looked at: it is shown at once to who follows, told to who
 * studies. */
#ifndef CLIENTS_VIEWER_NEWER_RUN_H
#define CLIENTS_VIEWER_NEWER_RUN_H

struct view;

void newer_run_watch(struct view *view); /* what is followed, selected or shown may have changed */
void newer_run_on_begun(struct view *view, const char *name);
void newer_run_on_shown(struct view *view); /* another run is on the stage */

#endif

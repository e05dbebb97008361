/* A run that begins while another one is shown: if the view follows the run's end, it is shown
 * immediately; otherwise it is announced. */
#ifndef CLIENTS_VIEWER_NEWER_RUN_H
#define CLIENTS_VIEWER_NEWER_RUN_H

struct view;

/* call when what is followed, selected or shown may have changed */
void newer_run_watch(struct view *view);
void newer_run_on_begun(struct view *view, const char *name);
void newer_run_on_shown(struct view *view); /* call when another run is shown */

#endif

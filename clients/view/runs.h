/* The list of the runs of a server. */
#ifndef CLIENTS_VIEW_RUNS_H
#define CLIENTS_VIEW_RUNS_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

struct runs {
    GtkWidget *choice;
    char *names; /* lines of the list as it comes */
    bool moving; /* we choose ourselves */
};

GtkWidget *runs_new(struct view *view);
void runs_ask(struct view *view); /* which ones there are */

#endif

/* What is measured of a program, as a form: statistical and exact, each with what belongs to it. */
#ifndef CLIENTS_VIEW_FORM_H
#define CLIENTS_VIEW_FORM_H

#include "config/measure.h"

#include <gtk/gtk.h>

struct form;

/* Belongs to its widget.  rate: with how often it is sampled, and lists of functions: what is chosen before the start. */
struct form *form_new(const struct measure *first, bool rate);
GtkWidget *form_widget(struct form *form);
struct measure form_measure(const struct form *form); /* for measure_free */
/* What is wrong with the lists, the caller's; NULL: nothing. */
char *form_wrong(const struct form *form);

/* A label over a widget, or before it, that names it to the keyboard and to those who do not see it. */
void form_row(GtkWidget *grid, int row, const char *mnemonic, GtkWidget *widget);

#endif

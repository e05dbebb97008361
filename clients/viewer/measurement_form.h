/* What is measured of a program, as a form: statistical and exact, each with what belongs to it. */
#ifndef CLIENTS_VIEWER_MEASUREMENT_FORM_H
#define CLIENTS_VIEWER_MEASUREMENT_FORM_H

#include "config/measurement_spec.h"

#include <gtk/gtk.h>

struct measurement_form;

/* Belongs to its widget.  rate: with how often it is sampled, and lists of functions: what is
 * chosen before the start. */
struct measurement_form *measurement_form_new(const struct measurement_spec *first, bool rate);
GtkWidget *measurement_form_widget(struct measurement_form *form);
struct measurement_spec
measurement_form_get(const struct measurement_form *form); /* for measurement_spec_free */
/* What is wrong with the lists, the caller's; NULL: nothing. */
char *measurement_form_problem(const struct measurement_form *form);

/* A label over a widget, or before it, that names it to the keyboard and to those who do not see
 * it. */
void measurement_form_add_row(GtkWidget *grid, int row, const char *mnemonic, GtkWidget *widget);

#endif

/* The form for what is measured of a program: statistical and exact measurements with their
 * options. */
#ifndef CLIENTS_VIEWER_MEASUREMENT_FORM_H
#define CLIENTS_VIEWER_MEASUREMENT_FORM_H

#include "config/measurement_spec.h"

#include <gtk/gtk.h>

struct measurement_form;

/* Owned by its widget. rate: include the sampling rate and lists of functions, which are chosen
 * before the start. */
struct measurement_form *measurement_form_new(const struct measurement_spec *first, bool rate);
GtkWidget *measurement_form_widget(struct measurement_form *form);
/* free with measurement_spec_free */
struct measurement_spec measurement_form_get(const struct measurement_form *form);
/* Returns what is wrong with the lists, which the caller frees; NULL: nothing. */
char *measurement_form_problem(const struct measurement_form *form);

/* Adds a label above or before a widget, which names it for keyboard and screen-reader users. */
void measurement_form_add_row(GtkWidget *grid, int row, const char *mnemonic, GtkWidget *widget);

#endif

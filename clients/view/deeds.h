/* The table of everything that can be done: what it is called, its keys, and what it does. */
#ifndef CLIENTS_VIEW_DEEDS_H
#define CLIENTS_VIEW_DEEDS_H

#include "clients/view/action.h"

extern const struct action deeds[];
extern const size_t deed_count;
extern const struct line_key line_keys[]; /* those for the line of the selected event */
extern const size_t line_key_count;

bool deeds_run_goes_on(const struct view *view);

#endif

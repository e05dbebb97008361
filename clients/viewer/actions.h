/* The table of all actions: names, keys and functions. */
#ifndef CLIENTS_VIEWER_ACTIONS_H
#define CLIENTS_VIEWER_ACTIONS_H

#include "clients/viewer/action_setup.h"

extern const struct action action_table[];
extern const size_t action_table_size;
extern const struct line_key line_keys[]; /* those for the line of the selected event */
extern const size_t line_key_count;

bool actions_run_is_live(const struct view *view);

#endif

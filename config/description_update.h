/* Updating the description that a trace contains to a newer, installed one. */
#ifndef CONFIG_DESCRIPTION_UPDATE_H
#define CONFIG_DESCRIPTION_UPDATE_H

#include "config/target.h"

/* If the installed description of that name has a greater version, takes over its appearance and
 * which events wait. The rules of order and of successions stay. Returns that version, or 0. */
int target_update_installed(struct target *target);

#endif

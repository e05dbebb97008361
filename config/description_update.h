/* Descriptions that are newer than the one that a trace holds. */
#ifndef CONFIG_DESCRIPTION_UPDATE_H
#define CONFIG_DESCRIPTION_UPDATE_H

#include "config/target.h"

/* If the installed description of that name has a greater version, things look as it says from here
 * on, and those events wait that it says wait.  What must hold is as it was.  Returns that version,
 * or 0. */
int target_update_installed(struct target *target);

#endif

/* Categories of a program's functions by name (`function_categories` in a description). */
#ifndef CONFIG_FUNCTION_SCOPES_H
#define CONFIG_FUNCTION_SCOPES_H

#include "config/description_reader.h"
#include "config/target.h"

#include <libconfig.h>

/* Reads the scopes of a part of a description. A later part overrides the same pattern of an
 * earlier one; of several patterns that match a name, the first applies. */
void function_scopes_parse(struct description_reader *reader, const config_setting_t *root,
                           struct target *target);

#endif

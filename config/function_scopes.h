/* Of which category functions of a program are, by their names (scopes in a description). */
#ifndef CONFIG_FUNCTION_SCOPES_H
#define CONFIG_FUNCTION_SCOPES_H

#include "config/description_reader.h"
#include "config/target.h"

#include <libconfig.h>

/* What a part of a description says of them: of one pattern the later part, and of several that fit
 * a name the first. */
void function_scopes_parse(struct description_reader *reader, const config_setting_t *root,
                           struct target *target);

#endif

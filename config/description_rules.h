/* Checks of consistency between the entries of a description. */
#ifndef CONFIG_DESCRIPTION_RULES_H
#define CONFIG_DESCRIPTION_RULES_H

#include "config/description_reader.h"
#include "config/target.h"

/* Checks the complete description; reports errors to the reader. */
void description_rules_check(struct description_reader *reader, const struct target *target);

#endif

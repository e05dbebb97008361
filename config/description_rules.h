/* What the entries of a description must have in common. */
#ifndef CONFIG_DESCRIPTION_RULES_H
#define CONFIG_DESCRIPTION_RULES_H

#include "config/description_reader.h"
#include "config/target.h"

/* What must fit together, once all is read. */
void description_rules_check(struct description_reader *reader, const struct target *target);

#endif

/* Choice of the key findings of a run among those of the table "findings": those with the largest
 * estimated gain first. Findings about a lack of CPUs, which other programs may have used, are
 * chosen only if there is space for all those about the program itself. */
#ifndef CLIENTS_CONNECTION_FINDING_CHOICE_H
#define CLIENTS_CONNECTION_FINDING_CHOICE_H

#include "clients/connection/result_table.h"

/* Sets chosen[0], ... to at most `most` rows of the table, and returns how many there are.
 * gains_ns: of each row; less than 0: it is not to be chosen. */
uint32_t finding_choice_make(const struct result_table *table, const int64_t *gains_ns,
                             uint32_t most, uint32_t *chosen);

#endif

/* Hints about how threads wait: woken for nothing, by the clock, for one another in turns; made one
 * after the other. */
#ifndef SERVER_QUERIES_TABLES_WAIT_PATTERNS_H
#define SERVER_QUERIES_TABLES_WAIT_PATTERNS_H

#include "server/queries/tables/finding_rows.h"

void wait_patterns_add_findings(struct finding_rows *hinting);

#endif

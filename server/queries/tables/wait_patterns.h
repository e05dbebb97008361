/* Findings about patterns of waits: wake-ups without effect, timeouts, alternation; threads created
 * one after the other. */
#ifndef SERVER_QUERIES_TABLES_WAIT_PATTERNS_H
#define SERVER_QUERIES_TABLES_WAIT_PATTERNS_H

#include "server/queries/tables/finding_rows.h"

void wait_patterns_add_findings(struct finding_rows *hinting);

#endif

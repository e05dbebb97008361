/* Findings about lock contention: locks, and semaphores whose units are released by their holders.
 */
#ifndef SERVER_QUERIES_TABLES_LOCK_CONTENTION_H
#define SERVER_QUERIES_TABLES_LOCK_CONTENTION_H

#include "server/queries/tables/finding_rows.h"

void lock_contention_add_findings(struct finding_rows *hinting);

#endif

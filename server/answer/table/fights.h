/* Hints about what only one has at a time, or so many: locks, and semaphores whose units are given
 * back. */
#ifndef SERVER_ANSWER_TABLE_FIGHTS_H
#define SERVER_ANSWER_TABLE_FIGHTS_H

#include "server/answer/table/hinting.h"

void lock_contention_add_findings(struct finding_rows *hinting);

#endif

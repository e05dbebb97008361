/* Hints about how threads wait: woken for nothing, by the clock, for one another in turns; made one
 * after the other. */
#ifndef SERVER_ANSWER_TABLE_HABITS_H
#define SERVER_ANSWER_TABLE_HABITS_H

#include "server/answer/table/hinting.h"

void wait_patterns_add_findings(struct finding_rows *hinting);

#endif

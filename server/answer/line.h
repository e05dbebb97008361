/* A line as viewers are told of it. */
#ifndef SERVER_ANSWER_LINE_H
#define SERVER_ANSWER_LINE_H

#include "server/run/run.h"
#include "wire/message.h"

void line_answer_encode(struct encoder *out, const struct run *run, uint32_t line);

#endif

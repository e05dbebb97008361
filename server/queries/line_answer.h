/* Encoding of a trace line in messages to viewers. */
#ifndef SERVER_QUERIES_LINE_ANSWER_H
#define SERVER_QUERIES_LINE_ANSWER_H

#include "server/run/run.h"
#include "wire/message.h"

void line_answer_encode(struct encoder *out, const struct run *run, uint32_t line);

#endif

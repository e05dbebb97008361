/* How large words are, and where lines are. */
#ifndef RENDER_MEASURE_H
#define RENDER_MEASURE_H

#include "render/builder.h"

double build_measure(const struct builder *b, const char *text, double size, bool bold);
/* A copy of the text, cut to fit with an ellipsis. */
char *build_fit(const struct builder *b, const char *text, double size, double limit);
int32_t build_row(const struct builder *b, uint32_t line); /* -1: not shown */

#endif

/* Painting the legend of a diagram: its symbols and texts. */
#ifndef RENDER_LEGEND_SYMBOLS_H
#define RENDER_LEGEND_SYMBOLS_H

#include "render/painter.h"

void legend_symbols_paint(struct painter *painter);

#endif

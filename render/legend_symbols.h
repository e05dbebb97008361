/* Painting what stands beside a picture: the legend's symbols, and words. */
#ifndef RENDER_LEGEND_SYMBOLS_H
#define RENDER_LEGEND_SYMBOLS_H

#include "render/painter.h"

void legend_symbols_paint(struct painter *painter);

#endif

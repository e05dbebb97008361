/* Painting marks: their shapes, and rings around them. */
#ifndef RENDER_SYMBOLS_H
#define RENDER_SYMBOLS_H

#include "render/painter.h"

void symbol_paint(const struct painter *painter, enum target_shape shape, bool filled,
                  struct target_colour colour, enum event_state state, double x, double y);
/* radius: in points */
/* Across the symbol: it came to nothing. */
void symbol_strike(const struct painter *p, struct target_colour colour, double x, double y);
void symbol_ring(const struct painter *painter, const struct scene_mark *mark, double radius,
                 struct target_colour colour);
void symbol_stop(const struct painter *painter, const struct scene_mark *mark); /* a breakpoint */

#endif

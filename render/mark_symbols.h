/* Painting marks: their shapes, and rings around them. */
#ifndef RENDER_MARK_SYMBOLS_H
#define RENDER_MARK_SYMBOLS_H

#include "render/painter.h"

void mark_symbol_paint(const struct painter *painter, enum target_shape shape, bool filled,
                       struct target_color color, enum event_state state, double x, double y);
/* radius: in points */
/* Strikes the symbol through: the event had no effect. */
void mark_symbol_strike(const struct painter *p, struct target_color color, double x, double y);
void mark_symbol_ring(const struct painter *painter, const struct scene_mark *mark, double radius,
                      struct target_color color);
void mark_symbol_stop(const struct painter *painter,
                      const struct scene_mark *mark); /* a breakpoint */

#endif

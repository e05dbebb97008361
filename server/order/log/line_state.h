/* What a line holds beside its events: most hold nothing, and what is not needed any more is given
 * back. */
#ifndef SERVER_ORDER_LOG_LINE_STATE_H
#define SERVER_ORDER_LOG_LINE_STATE_H

#include "server/order/order_state.h"

/* Gives back what an idle line has no use for: most are of objects that are long gone. */
void line_trim(struct order_line *line);
void line_add_neighbor(struct order_line *line,
                       uint32_t other); /* if there is room: not NEIGHBOURS_MAX yet */
void line_clear_neighbors(struct order_line *line);
void line_free(struct order_line *line); /* what it holds */

#endif

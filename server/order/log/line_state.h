/* The state of a line beside its events.  Most lines have none, and state that is no longer
 * needed is freed. */
#ifndef SERVER_ORDER_LOG_LINE_STATE_H
#define SERVER_ORDER_LOG_LINE_STATE_H

#include "server/order/order_state.h"

/* Frees what an idle line does not need: most lines belong to objects that were destroyed long
 * ago. */
void line_trim(struct order_line *line);
/* The line must have less than NEIGHBOURS_MAX. */
void line_add_neighbor(struct order_line *line, uint32_t other);
void line_clear_neighbors(struct order_line *line);
void line_free(struct order_line *line); /* frees what it refers to */

#endif

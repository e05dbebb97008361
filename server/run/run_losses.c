#include "server/run/run_losses.h"

/* A program reports the numbers of events that it dropped, unless it ends before.  Events that
 * it left behind were reported by number while there was room; for the rest, the order may find
 * missing numbers by itself. */
uint64_t run_lost(const struct run *run)
{
    struct order_figures order = order_figures(run->order);
    uint64_t dropped = 0, left = 0, told = 0, numbered = order.lost;
    for (size_t i = 0; i < run->process_count; i++) {
        dropped += run->processes[i].dropped;
        left += run->processes[i].left;
        told += run->processes[i].left_told;
    }
    uint64_t untold = left - told, again = told + (order.found < untold ? order.found : untold);
    numbered -= again < numbered ? again : numbered;
    return (numbered > dropped ? numbered : dropped) + left;
}

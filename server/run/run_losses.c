#include "server/run/run_losses.h"

/* What a program dropped it tells by its numbers, too, unless it ends before.  What it left behind
 * was told by number as far as there was room; of the rest, the order may find numbers missing by
 * itself. */
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

#include "server/run/lost.h"

/* What a program dropped it tells by its numbers, too, unless it ends before. */
uint64_t run_lost(const struct run *run)
{
    uint64_t dropped = 0, left = 0, left_told = 0, numbered = order_figures(run->order).lost;
    for (size_t i = 0; i < run->process_count; i++) {
        dropped += run->processes[i].dropped;
        left += run->processes[i].left;
        left_told += run->processes[i].left_told;
    }
    numbered -= left_told < numbered ? left_told : numbered;
    return (numbered > dropped ? numbered : dropped) + left;
}

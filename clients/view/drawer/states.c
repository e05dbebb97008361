/* How each thread spent its life. */
#include "clients/view/drawer/pages.h"

const struct page page_states = {
    .name = "states",
    .title = "States",
    .what = "states",
    .by = "",
    .nothing = "No thread is known yet.",
    .about = "How each thread spent its life: ready, running, blocked",
};

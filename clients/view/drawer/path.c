/* What decided how long the run took. */
#include "clients/view/drawer/pages.h"

const struct page page_path = {
    .name = "path",
    .title = "Path",
    .what = "path",
    .by = "",
    .nothing = "No path is known yet.",
    .about = "The critical path: which steps decided how long the run took",
};

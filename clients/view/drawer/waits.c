/* Where threads waited, for whom, and what those did meanwhile. */
#include "clients/view/drawer/pages.h"

const struct page page_waits = {
    .name = "waits",
    .title = "Waits",
    .what = "waits",
    .by = "",
    .nothing = "No thread has waited for another one.",
    .about = "Where threads waited, and why so long",
};

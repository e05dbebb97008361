/* What the calling thread keeps to itself. */
#include "clients/trace/heap/counting.h"

__thread struct counting counting_mine;

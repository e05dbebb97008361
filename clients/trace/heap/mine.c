/* What the calling thread keeps to itself. */
#include "clients/trace/heap/counting.h"

__thread struct alloc_hook_state alloc_hook_thread;

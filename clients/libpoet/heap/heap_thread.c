/* What the calling thread keeps to itself. */
#include "clients/libpoet/heap/alloc_hooks.h"

__thread struct alloc_hook_state alloc_hook_thread;

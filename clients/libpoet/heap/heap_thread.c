/* State of the calling thread. */
#include "clients/libpoet/heap/alloc_hooks.h"

__thread struct alloc_hook_state alloc_hook_thread;

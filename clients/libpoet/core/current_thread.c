#include "clients/libpoet/core/current_thread.h"

__thread struct traced_thread *thread_mine;
__thread struct traced_thread *thread_base;

#include "clients/trace/core/current.h"

__thread struct traced_thread *thread_mine;
__thread struct traced_thread *thread_base;

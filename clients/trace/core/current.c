#include "clients/trace/core/current.h"

__thread struct thread *thread_mine;
__thread struct thread *thread_base;

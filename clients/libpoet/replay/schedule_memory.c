#include "clients/libpoet/replay/schedule_memory.h"

struct schedule_head *shared_schedule;

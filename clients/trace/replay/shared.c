#include "clients/trace/replay/shared.h"

struct schedule_head *shared_schedule;

#include "clients/trace/replay/shared.h"

struct script_head *script;

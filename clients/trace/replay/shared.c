#include "clients/trace/replay/shared.h"

struct script_head *script;

struct script_line *script_line(uint32_t line)
{
    struct script_line *all = (void *)((char *)script + script->lines_at);
    return &all[line <= script->line_count ? line : 0];
}

const struct script_event *script_events(const struct script_line *thread)
{
    const struct script_event *all = (const void *)((char *)script + script->events_at);
    return all + thread->first;
}

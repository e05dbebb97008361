#include "server/run/processors.h"

#include "server/measure/spans.h"

static struct spans *spans_in(struct run *run)
{
    if (!run->spans)
        run->spans = spans_new();
    return run->spans;
}

void processors_stood(struct run *run, uint32_t line, bool delay, int64_t at_ns, uint64_t ns,
                      bool last)
{
    spans_stood(spans_in(run), line, delay, at_ns, ns, last);
}

void processors_clocked(struct run *run, uint32_t line, int64_t at_ns, uint64_t ran_ns, bool anew)
{
    spans_clocked(spans_in(run), line, at_ns, ran_ns, anew);
}

void processors_switched(struct run *run, uint32_t line, unsigned what, unsigned cpu, int64_t at_ns)
{
    if (what < SWITCHED_KINDS)
        spans_switched(spans_in(run), line, (enum switched)what, cpu, at_ns);
}

void processors_asleep(struct run *run, uint32_t line, uint64_t call, int64_t at_ns)
{
    spans_told_asleep(spans_in(run), line, call, at_ns);
}

struct stays *processors_stays(struct run *run) { return spans_stays(spans_in(run)); }

void processors_lost(struct run *run, uint64_t switches) { spans_lost(spans_in(run), switches); }

void processors_refused(struct run *run, const char *why) { spans_refused(spans_in(run), why); }

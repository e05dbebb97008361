#include "server/answer/answer.h"

#include "memory/memory.h"
#include "server/answer/line.h"
#include "server/answer/named.h"
#include "server/loop/turn.h"
#include "server/run/lost.h"
#include "wire/limits.h"
#include "wire/shown.h"

#include <stdio.h>
#include <stdlib.h>

void answer_run(struct out *out, const struct run *run)
{
    struct shown_run r = {.name = run->name,
                          .file = run->file,
                          .number = run->number,
                          .events =
                              run->resting ? run->rest_events : order_figures(run->order).events,
                          .lost = run->resting ? run->rest_lost : run_lost(run),
                          .wall_ns = run->wall_ns,
                          .connected = run_connected(run),
                          .unfinished = run->unfinished,
                          .written = run->written};
    put_run(out, &r);
}

static void tell_process(struct out *out, uint32_t index, const struct run_process *p)
{
    struct shown_process s = {.pid = p->pid,
                              .path = p->path,
                              .host = p->host,
                              .arguments = p->arguments,
                              .argument_count = (uint32_t)p->argument_count,
                              .variables = p->variables,
                              .variable_count = (uint32_t)p->variable_count};
    s.modules = memory_zeroed(p->module_count + 1, sizeof *s.modules);
    for (size_t i = 0; i < p->module_count; i++) {
        struct shown_module *m = &s.modules[s.module_count++];
        const struct run_module *from = &p->modules[i];
        *m = (struct shown_module){
            .path = from->path, .start = from->start, .end = from->end, .bias = from->bias};
        for (unsigned k = 0; k < from->build_id_bytes; k++)
            snprintf(m->build_id + 2 * k, 3, "%02x", from->build_id[k]);
    }
    out_begin(out, MESSAGE_PROCESS);
    put_u32(out, index);
    put_process(out, &s);
    out_end(out);
    free(s.modules);
}

#define NEWS_NS 3000000u

bool answer_some_news(struct out *out, const struct run *run, struct known *known, size_t enough)
{
    for (; known->targets < run->target_count; known->targets++) {
        out_begin(out, MESSAGE_TARGET);
        put_string(out, run->targets[known->targets]->name);
        put_string(out, run->target_texts[known->targets]);
        out_end(out);
    }
    size_t first = known->processes; /* the newest may have got modules since */
    if (first && run->processes[first - 1].module_count != known->modules)
        first--;
    for (; first < run->process_count; first++) {
        tell_process(out, (uint32_t)first, &run->processes[first]);
        known->modules = run->processes[first].module_count;
    }
    known->processes = run->process_count;
    for (; known->types < run->types.count; known->types++) {
        out_begin(out, MESSAGE_TYPE_NAME);
        put_u32(out, (uint32_t)known->types + 1);
        put_string(out, run->types.items[known->types]);
        out_end(out);
    }
    if (!known->lines) /* what changed before is told with the line */
        known->changes = run->change_count;
    struct share share = share_of(NEWS_NS);
    bool named = named_only(run, known);
    if (named)
        named_count(out, run, known);
    for (unsigned n = 1; !named && known->lines < order_lines(run->order); n++) {
        if (out->size >= enough || (n % 64 == 0 && !share_left(share)))
            return false;
        tell_line(out, run, ++known->lines);
    }
    for (unsigned n = 1; known->changes < run->change_count; n++) {
        if (out->size >= enough || (n % 64 == 0 && !share_left(share)))
            return false;
        uint32_t line = run->changes[known->changes++];
        if (named_told(known, line))
            tell_line(out, run, line);
    }
    return true;
}

void answer_news(struct out *out, const struct run *run, struct known *known)
{
    while (!answer_some_news(out, run, known, SIZE_MAX))
        ;
}

char *answer_damaged(const struct run *run, uint64_t parts)
{
    uint64_t events = order_unreadable_events(run->order);
    const char *before = run->damage ? run->damage : "", *between = run->damage ? "; " : "";
    const char *file = run->file ? run->file : run->name;
    unsigned long long place = order_first_damage(run->order);
    if (!parts)
        return memory_copied(run->damage);
    return events
               ? memory_printed("%s%s%llu events of %llu could not be read (%s: part at byte %llu)",
                                before, between, (unsigned long long)events,
                                (unsigned long long)order_figures(run->order).events, file, place)
               : memory_printed(
                     "%s%ssome of what comes before what could not be read (%s: part at byte %llu)",
                     before, between, file, place);
}

void answer_damage(struct out *out, const struct run *run, struct known *known)
{
    uint64_t parts = order_figures(run->order).damaged;
    if (known->damaged == parts + 1 || (!parts && !run->damage))
        return;
    char *text = answer_damaged(run, parts);
    out_begin(out, MESSAGE_DAMAGE);
    put_u64(out, order_unreadable_events(run->order));
    put_string(out, text);
    out_end(out);
    free(text);
    known->damaged = parts + 1;
}

#include "server/run/inputs.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct inputs {
    struct inputs_thread *threads;
    size_t count, room;
    struct map at; /* session, thread -> 1 + index */
    uint64_t bytes;
};

void inputs_free(struct inputs *inputs)
{
    if (!inputs)
        return;
    for (size_t i = 0; i < inputs->count; i++)
        free(inputs->threads[i].bytes);
    free(inputs->threads);
    map_free(&inputs->at);
    free(inputs);
}

static struct inputs_thread *find(struct inputs *inputs, uint32_t session, uint32_t thread)
{
    size_t known = (uintptr_t)map_get(&inputs->at, session, thread);
    if (!known) {
        inputs->threads =
            grow(inputs->threads, &inputs->room, inputs->count + 1, sizeof *inputs->threads);
        inputs->threads[inputs->count] =
            (struct inputs_thread){.session = session, .thread = thread};
        known = ++inputs->count;
        map_put(&inputs->at, session, thread, (void *)(uintptr_t)known);
    }
    return &inputs->threads[known - 1];
}

static void append(struct inputs *inputs, struct inputs_thread *t, const struct input *input)
{
    struct out body = {0};
    put_u32(&body, INPUT_HEAD_BYTES + input->size);
    put_input(&body, input);
    if (body.failed || inputs->bytes + body.size > LIMIT_INPUT_BYTES) {
        t->cut = true;
    } else {
        t->bytes = grow(t->bytes, &t->room, t->size + body.size, 1);
        memcpy(t->bytes + t->size, body.data, body.size);
        t->size += body.size;
        inputs->bytes += body.size;
        t->calls += !(input->flags & (INPUT_MORE | INPUT_OWN));
    }
    out_free(&body);
}

void inputs_add(struct run *run, uint32_t session, uint32_t thread, uint32_t line,
                const struct input *input)
{
    if (!run->inputs)
        run->inputs = memory_zeroed(1, sizeof *run->inputs);
    struct inputs_thread *t = find(run->inputs, session, thread);
    if (line)
        t->line = line;
    if (input->flags & INPUT_PASSED)
        t->passed += input->result > 0 ? (uint64_t)input->result : 0;
    else if (input->flags & INPUT_CUT)
        t->cut = true;
    else if (input->flags & INPUT_STREAMS)
        t->streams = true;
    else if (!t->cut)
        append(run->inputs, t, input);
    run->generation++;
}

size_t inputs_threads(const struct run *run) { return run->inputs ? run->inputs->count : 0; }

const struct inputs_thread *inputs_thread(const struct run *run, size_t i)
{
    return &run->inputs->threads[i];
}

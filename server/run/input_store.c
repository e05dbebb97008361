#include "server/run/input_store.h"

#include "base/map.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct input_store {
    struct input_store_thread *threads;
    size_t count, room;
    struct map at; /* session, thread -> 1 + index */
    uint64_t bytes;
};

static void input_store_free(void *state)
{
    struct input_store *inputs = state;
    for (size_t i = 0; i < inputs->count; i++)
        free(inputs->threads[i].bytes);
    free(inputs->threads);
    map_free(&inputs->at);
    free(inputs);
}

static struct input_store_thread *input_store_get_thread(struct input_store *inputs,
                                                         uint32_t session, uint32_t thread)
{
    return MAP_ITEM(&inputs->at, session, thread, inputs->threads, inputs->count, inputs->room,
                    (struct input_store_thread){.session = session, .thread = thread});
}

static void input_store_append(struct input_store *inputs, struct input_store_thread *t,
                               const struct input *input)
{
    struct encoder body = {0};
    encode_u32(&body, INPUT_HEAD_BYTES + input->size);
    encode_input(&body, input);
    if (body.failed || inputs->bytes + body.size > LIMIT_INPUT_BYTES) {
        t->cut = true;
    } else {
        t->bytes = array_reserve(t->bytes, &t->room, t->size + body.size, 1);
        memcpy(t->bytes + t->size, body.data, body.size);
        t->size += body.size;
        inputs->bytes += body.size;
        t->calls += !(input->flags & (INPUT_MORE | INPUT_OWN));
    }
    encoder_free(&body);
}

void input_store_add(struct run *run, uint32_t session, uint32_t thread, uint32_t line,
                     const struct input *input)
{
    struct input_store *inputs =
        run_addon_make(&run->addons, RUN_ADDON_INPUTS, sizeof *inputs, input_store_free);
    struct input_store_thread *t = input_store_get_thread(inputs, session, thread);
    if (line)
        t->line = line;
    if (input->flags & INPUT_PASSED)
        t->passed += input->result > 0 ? (uint64_t)input->result : 0;
    else if (input->flags & INPUT_CUT)
        t->cut = true;
    else if (input->flags & INPUT_STREAMS)
        t->streams = true;
    else if (!t->cut)
        input_store_append(inputs, t, input);
    run->generation++;
}

static const struct input_store *input_store_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_INPUTS);
}

size_t input_store_threads(const struct run *run)
{
    const struct input_store *inputs = input_store_of(run);
    return inputs ? inputs->count : 0;
}

const struct input_store_thread *input_store_thread(const struct run *run, size_t i)
{
    return &input_store_of(run)->threads[i];
}

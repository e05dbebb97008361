#include "server/keep.h"

#include "server/order/map.h"
#include "server/run.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

#define EPOCHS_MAX 8
#define EVENT_BYTES 100u /* what an event takes in memory, its index and edges included */

struct epoch {
    uint64_t offset, position;
    uint64_t *marks; /* by line - 1 */
    uint32_t lines;
};

struct keeping {
    uint64_t allowed;
    struct out facts;
    struct epoch epochs[EPOCHS_MAX];
    size_t epoch_count;
    uint64_t noted, noted_position; /* at the last epoch */
    struct hangup {
        uint64_t offset;
        uint32_t session;
    } *hangups;
    size_t hangup_count, hangup_room;
};

struct keeping *keep_new(uint64_t bytes)
{
    struct keeping *keeping = calloc(1, sizeof *keeping);
    if (!keeping)
        abort();
    keeping->allowed = bytes;
    return keeping;
}

void keep_free(struct keeping *keeping)
{
    if (!keeping)
        return;
    for (size_t i = 0; i < keeping->epoch_count; i++)
        free(keeping->epochs[i].marks);
    out_free(&keeping->facts);
    free(keeping->hangups);
    free(keeping);
}

void keep_fact(struct run *run, struct chunk chunk)
{
    if (!run->keeping)
        return;
    struct out *facts = &run->keeping->facts;
    put_u32(facts, chunk.kind);
    put_u32(facts, chunk.session);
    put_u32(facts, chunk.thread);
    put_u32(facts, chunk.size);
    put_bytes(facts, chunk.data, chunk.size);
}

void keep_hangup(struct run *run, uint32_t session)
{
    struct keeping *k = run->keeping;
    if (!k)
        return;
    k->hangups = grow(k->hangups, &k->hangup_room, k->hangup_count + 1, sizeof *k->hangups);
    k->hangups[k->hangup_count++] =
        (struct hangup){journal_bytes(run->journal), session};
}

static void note_epoch(struct run *run)
{
    struct keeping *k = run->keeping;
    if (k->epoch_count == EPOCHS_MAX)
        return;
    struct epoch *epoch = &k->epochs[k->epoch_count++];
    *epoch = (struct epoch){.offset = journal_bytes(run->journal),
                            .position = order_count(run->order),
                            .lines = order_lines(run->order)};
    epoch->marks = calloc(epoch->lines + 1, sizeof *epoch->marks);
    if (!epoch->marks)
        abort();
    for (uint32_t i = 1; i <= epoch->lines; i++)
        epoch->marks[i - 1] = order_line_highest(run->order, i);
    k->noted = epoch->offset;
    k->noted_position = epoch->position;
}

static void put_checkpoint(struct run *run, const struct epoch *epoch, struct out *out)
{
    const struct keeping *k = run->keeping;
    uint32_t gone = 0;
    put_u32(out, (uint32_t)k->facts.size);
    put_bytes(out, k->facts.data, k->facts.size);
    for (size_t i = 0; i < k->hangup_count; i++)
        gone += k->hangups[i].offset <= epoch->offset;
    put_u32(out, gone);
    for (size_t i = 0; i < gone; i++)
        put_u32(out, k->hangups[i].session);
    put_u32(out, epoch->lines);
    for (uint32_t i = 0; i < epoch->lines; i++)
        put_u64(out, epoch->marks[i]);
}

static void forget_epoch(struct run *run)
{
    struct keeping *k = run->keeping;
    struct epoch epoch = k->epochs[0];
    struct out out = {0};
    put_checkpoint(run, &epoch, &out);
    journal_append(run->journal, (struct chunk){.kind = CHUNK_CHECKPOINT, .data = out.data,
                                                .size = (uint32_t)out.size});
    if (!out.failed && journal_forget(run->journal, epoch.offset))
        order_forget(run->order, epoch.position);
    out_free(&out);
    free(epoch.marks);
    memmove(k->epochs, k->epochs + 1, --k->epoch_count * sizeof *k->epochs);
    run->generation++;
}

/* File and memory alike stay below what is allowed. */
static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

void keep_poll(struct run *run)
{
    struct keeping *k = run->keeping;
    if (!k || !run->journal)
        return;
    uint64_t grown = larger(journal_bytes(run->journal) - k->noted,
                            (order_count(run->order) - k->noted_position) * EVENT_BYTES);
    if (grown >= k->allowed / 4)
        note_epoch(run);
    while (k->epoch_count &&
           larger(journal_kept(run->journal),
                  (order_count(run->order) - order_first(run->order)) * EVENT_BYTES) > k->allowed)
        forget_epoch(run);
}

bool keep_restore(struct run *run, struct chunk checkpoint,
                  bool (*visit)(void *context, struct chunk), void *context)
{
    struct in in = in_from(checkpoint.data, checkpoint.size);
    uint32_t size = get_u32(&in);
    const uint8_t *bytes = get_bytes(&in, size);
    struct in facts = in_from(bytes, bytes ? size : 0);
    while (in_left(&facts)) {
        struct chunk chunk = {.kind = (uint16_t)get_u32(&facts)};
        chunk.session = get_u32(&facts);
        chunk.thread = get_u32(&facts);
        chunk.size = get_u32(&facts);
        chunk.data = get_bytes(&facts, chunk.size);
        if (facts.error)
            return false;
        visit(context, chunk);
    }
    for (uint32_t n = get_u32(&in); n && !in.error; n--)
        visit(context, (struct chunk){.kind = CHUNK_HANGUP, .session = get_u32(&in)});
    uint32_t lines = get_u32(&in);
    for (uint32_t i = 1; i <= lines && !in.error; i++) {
        uint64_t number = get_u64(&in);
        if (i <= order_lines(run->order) && !in.error)
            order_forgotten(run->order, i, number);
    }
    return in_done(&in);
}

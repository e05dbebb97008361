#include "server/decode/metric_records.h"

#include "base/alloc.h"
#include "server/tracefile/chunks.h"
#include "wire/metric_messages.h"
#include "wire/profile_snapshot.h"
#include "wire/program_messages.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* Reads each number once, since the program may write it concurrently. */
#define LOOK(member) (*(const volatile __typeof__(member) *)&(member))

static const struct profile_region_cell *cell_at(const struct region_reader *region, uint32_t code)
{
    return (const struct profile_region_cell *)(const void *)((const char *)region->head +
                                                              REGION_CELLS_AT) +
           code;
}

/* False: no meter begins there, or none that fits. */
static bool metric_read_cell(const struct region_reader *region, uint32_t code,
                             struct metric_sums *sums)
{
    uint8_t kind = LOOK(region->head->kinds[code]);
    const struct profile_region_cell *cell = cell_at(region, code);
    memset(sums, 0, sizeof *sums); /* they are compared as bytes */
    sums->code = code;
    sums->kind = kind;
    if (kind < METRIC_COUNT || kind > METRIC_DISTRIBUTION ||
        (kind == METRIC_DISTRIBUTION && code + METRIC_CELLS > REGION_CELLS))
        return false;
    sums->count = LOOK(cell->count);
    sums->sum = LOOK(cell->sum);
    if (kind != METRIC_COUNT && sums->count) {
        sums->least = LOOK(cell->least);
        sums->most = LOOK(cell->most);
        sums->last = LOOK(cell->last);
    }
    const uint64_t *buckets =
        (const void *)((const char *)cell + offsetof(struct profile_region_cell, rest));
    for (unsigned i = 0; kind == METRIC_DISTRIBUTION && i < METRIC_BUCKETS; i++)
        sums->buckets[i] = LOOK(buckets[i]);
    return true;
}

bool metric_records_encode(struct region_reader *region, uint64_t ns, struct encoder *body)
{
    uint32_t cells = LOOK(region->head->cells), count = 0;
    size_t begin = body->size;
    cells = cells < REGION_CELLS ? cells : REGION_CELLS;
    if (cells < 2)
        return false;
    if (!region->cells)
        region->cells = xcalloc(REGION_CELLS, sizeof *region->cells);
    encode_u64(body, ns);
    encode_u32(body, 0);
    for (uint32_t code = 1; code < cells; code++) {
        struct metric_sums now;
        if (!metric_read_cell(region, code, &now) ||
            memcmp(&now, &region->cells[code], sizeof now) == 0)
            continue;
        encode_metric_sums(body, &now);
        region->cells[code] = now;
        count++;
    }
    if (count && !body->failed)
        chunk_set_u32(body->data + begin + 8, count);
    else
        body->size = begin;
    return count && !body->failed;
}

void metric_records_pending(struct region_reader *region)
{
    free(region->cells);
    region->cells = NULL;
}

/* ---- decoding ---- */

/* Returns whether codes and sender of a metric are valid for its kind. */
static bool metric_is_valid(uint32_t session, uint32_t code, unsigned kind)
{
    if (session == PROGRAM_METRICS_NO_PROCESS)
        return kind == METRIC_SAMPLED && code >= METRIC_SAMPLED_CODES &&
               code < METRIC_SAMPLED_CODES + METRIC_SAMPLED_MOST;
    if (kind == METRIC_WATCHED)
        return code >= METRIC_WATCHED_CODES && code < METRIC_WATCHED_CODES + WATCH_CELLS;
    return kind >= METRIC_COUNT && kind <= METRIC_DISTRIBUTION && code && code < REGION_CELLS;
}

bool metric_records_decode_name(struct run *run, uint32_t session, uint32_t process,
                                struct decoder *in)
{
    struct metric_message message;
    if (!decode_metric(in, &message))
        return false;
    if (!metric_is_valid(session, message.code, message.kind)) {
        decoder_fail(in, "invalid metric");
        return false;
    }
    struct program_metric_name name = {.session = session,
                                       .code = message.code,
                                       .kind = message.kind,
                                       .name = text_name(message.name),
                                       .unit = text_name(message.unit)};
    program_metrics_declare(run, &name);
    os_metrics_name(run, process, OS_METRICS_OWN + name.code,
                    (struct os_metric_kind){
                        .name = name.name,
                        .unit = name.unit,
                        .grows = name.kind == METRIC_COUNT,
                        .scale = name.kind == METRIC_SAMPLED ? METRIC_SAMPLED_SCALE : 1,
                    });
    free(name.name);
    free(name.unit);
    return true;
}

bool metric_records_decode_samples(struct run *run, uint32_t session, uint32_t process,
                                   struct decoder *in)
{
    uint64_t time_ns = decode_u64(in);
    int64_t at_ns = (int64_t)(time_ns - run->clock.start_ns);
    if (time_ns > SNAPSHOT_TIME_MOST)
        decoder_fail(in, "invalid timestamp");
    uint32_t count = decode_count(in, METRIC_SAMPLE_BYTES);
    for (uint32_t i = 0; i < count && !in->error; i++) {
        uint32_t code = decode_u32(in);
        int64_t value = (int64_t)decode_u64(in);
        if (!metric_is_valid(session, code,
                             session == PROGRAM_METRICS_NO_PROCESS ? METRIC_SAMPLED
                                                                   : METRIC_WATCHED))
            decoder_fail(in, "sample of an unknown metric");
        if (in->error)
            break;
        program_metrics_sample(run, session, code, at_ns, value);
        os_metrics_add(
            run, &(struct os_metric_series){.process = process, .meter = OS_METRICS_OWN + code},
            (struct os_metric_point){at_ns, value});
    }
    return decoder_finish(in);
}

/* Metric cells of a thread, of any content, which change while they are read; what is read is
 * decoded. Then bodies of METER and CELLS, as sent by a program or by `poet watch`. */
#include "base/alloc.h"
#include "server/decode/metric_records.h"
#include "server/decode/program_session.h"
#include "tests/fuzz/changing_memory.h"
#include "tests/fuzz/run_requests.h"
#include "tests/fuzz/sample_run.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void patch(char *memory, uint16_t place, uint64_t value)
{
    size_t at = (size_t)(place >> 2) * 8, kinds = offsetof(struct profile_region_head, kinds);
    switch (place & 3) {
    case 0:
        changing_set(memory, offsetof(struct profile_region_head, cells), value);
        break;
    case 1:
        changing_set(memory, kinds + at % REGION_CELLS, value);
        break;
    case 2:
        changing_set(memory, REGION_CELLS_AT + at % 1024, value);
        break;
    default: /* the last cells */
        changing_set(memory,
                     REGION_CELLS_AT + REGION_CELLS * sizeof(struct profile_region_cell) - 8 -
                         at % 1024,
                     value);
    }
}

static struct changing shared = {.bytes = REGION_MAP_BYTES, .sealed = true, .patch = patch};

static struct region_reader *begin(const uint8_t *data, size_t size)
{
    struct region_reader *region = NULL;
    changing_begin(&shared, data, size);
    struct profile_region_head *head = (struct profile_region_head *)(void *)shared.memory;
    head->magic = REGION_MAGIC;
    head->version = REGION_VERSION;
    head->cells = 16;
    for (unsigned i = 1; i < 16; i++)
        head->kinds[i] = (uint8_t)(METRIC_COUNT + i % 3);
    if (region_reader_add(&region, shared.fd, 1))
        abort();
    return region;
}

static void take(struct region_reader *region, struct program_session *session, uint64_t ns)
{
    struct encoder out = {0};
    const char *why;
    if (metric_records_encode(region, ns, &out) &&
        !program_session_decode_metrics(session, 1, out.data, out.size, &why))
        abort(); /* what the server itself encodes must be valid */
    encoder_free(&out);
}

/* Decodes a sequence of METER and CELLS: u8 which, u8 length, body. */
static void tell(struct run *run, uint32_t session, const uint8_t *data, size_t size)
{
    while (size >= 2) {
        size_t length = data[1] < size - 2 ? data[1] : size - 2;
        struct decoder in = decoder_init(data + 2, length);
        if (data[0] & 1)
            metric_records_decode_name(
                run, session, session == PROGRAM_METRICS_NO_PROCESS ? OS_METRICS_NO_PROCESS : 0,
                &in);
        else
            metric_records_decode_samples(
                run, session, session == PROGRAM_METRICS_NO_PROCESS ? OS_METRICS_NO_PROCESS : 0,
                &in);
        data += 2 + length;
        size -= 2 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sample_run sample = sample_run_begin();
    struct region_reader *region = begin(data, size);
    changing_once(&shared);
    take(region, sample.session, 2000);
    changing_go_on(&shared);
    for (uint64_t ns = 2001; ns < 2004; ns++)
        take(region, sample.session, ns);
    changing_end(&shared);
    region_reader_free(region);
    tell(sample.run, 0, data, size);
    tell(sample.run, PROGRAM_METRICS_NO_PROCESS, data, size);
    sample_run_end(&sample);
    run_requests_table(sample.run, "metrics");
    run_requests_curves(sample.run);
    run_free(sample.run);
    return 0;
}

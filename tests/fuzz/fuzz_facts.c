/* Measurements that a program's session decodes, live and from a file, of any content: activity
 * before a record (SLOT_MEASURED), STEPS, SUMS, METERS, ENTRIES, SWITCHES; then tables are
 * requested.
 *
 * An input is a sequence of: u8 which, u8 thread, u16 length, body. */
#include "base/alloc.h"
#include "server/decode/program_session.h"
#include "server/run/activity_store.h"
#include "tests/fuzz/run_requests.h"
#include "tests/fuzz/sample_run.h"
#include "wire/slot.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD 4u
#define MEASURED_MOST 4096u /* maximum payload in bytes */

#define TABLES (sizeof tables / sizeof *tables)

enum which {
    TELL_RECORD,
    TELL_STEPS,
    TELL_SUMS,
    TELL_METERS,
    TELL_ENTRIES,
    TELL_SWITCHES,
    TELL_SPANS,
    TELL_FORGET,
    TELL_PLAIN,
    TELL_KINDS
};

/* Sends the next event of a thread, with a payload from the input: u8 increment of the time, u8
 * flags, payload. */
static void record(struct sample_run *sample, uint32_t thread, const uint8_t *data, size_t size,
                   bool plain)
{
    const char *why;
    struct ring_slot *slots = xaligned_alloc(sizeof *slots, sizeof *slots + MEASURED_MOST);
    memset(slots, 0, sizeof *slots + MEASURED_MOST);
    size_t rest = size > 2 ? size - 2 : 0;
    rest = rest < MEASURED_MOST ? rest : MEASURED_MOST;
    sample->ns += size ? data[0] : 1;
    *slots = (struct ring_slot){
        .shape = 1, .time_ns = sample->ns, .line_a = thread, .site = 64 + size % 7};
    slots->number_a = ++sample->numbers[thread];
    if (!plain) {
        slots->flags = SLOT_MEASURED | (size > 1 && data[1] & 1 ? SLOT_TEXT : 0);
        slots->payload_bytes = (uint32_t)rest;
        memcpy(slots + 1, data + (size < 2 ? size : 2), rest);
    }
    program_session_decode_slots(sample->session, thread, slots,
                                 1 + slot_follow(slots->payload_bytes), &why);
    free(slots);
}

static void take(struct sample_run *sample, enum which which, uint32_t thread, const uint8_t *data,
                 size_t size)
{
    const char *why;
    switch (which) {
    case TELL_RECORD:
    case TELL_PLAIN:
        record(sample, thread, data, size, which == TELL_PLAIN);
        break;
    case TELL_STEPS:
        program_session_decode_activity(sample->run, data, size);
        break;
    case TELL_SUMS:
        program_session_decode_profile(sample->session, thread, data, size, &why);
        break;
    case TELL_METERS:
        program_session_decode_metrics(sample->session, thread, data, size, &why);
        break;
    case TELL_ENTRIES:
        program_session_decode_calls(sample->session, thread, data, size, &why);
        break;
    case TELL_SWITCHES:
        program_session_decode_switches(sample->session, data, size, &why);
        break;
    case TELL_SPANS:
        program_session_decode_carriers(sample->session, thread, data, size, &why);
        break;
    default:
        run_discard(sample->run, order_count(sample->run->order) / 2);
    }
    while (!run_step(sample->run, 1000))
        ;
}

/* Checks that the times of all steps are plausible. */
static void check(const struct run *run)
{
    for (uint32_t line = 1; line <= order_line_count(run->order); line++) {
        const struct activity_span *span;
        for (uint64_t i = activity_first(run, line); (span = activity_span(run, line, i)) != NULL;
             i++)
            for (uint16_t k = 0; k < span->count; k++)
                if (activity_steps(run, line, span)[k].ticks > (uint64_t)1 << 60)
                    abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tables[] = {"calls", "states",  "source",   "metrics", "entries",
                                         "waits", "overlap", "seq_conc", "run",     "concurrency"};
    size_t all = size;
    struct sample_run sample = sample_run_begin();
    while (size >= HEAD) {
        size_t length = data[2] | (size_t)data[3] << 8;
        length = length < size - HEAD ? length : size - HEAD;
        take(&sample, (enum which)(data[0] % TELL_KINDS), 1 + data[1] % SAMPLE_RUN_THREADS,
             data + HEAD, length);
        data += HEAD + length;
        size -= HEAD + length;
    }
    sample_run_end(&sample);
    check(sample.run);
    run_requests_table(sample.run,
                       tables[all % TABLES]); /* two of them only, since each takes time */
    run_requests_table(sample.run, tables[all / TABLES % TABLES]);
    run_free(sample.run);
    return 0;
}

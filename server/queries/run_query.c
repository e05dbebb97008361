/* Queries about a run as a whole: its statistics and problems; call sites, trace file and recorded
 * input, which clients look up or copy; and the settings of what its programs measure. */
#include "base/alloc.h"
#include "server/queries/event_answer.h"
#include "server/queries/query.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/request_queue.h"
#include "server/run/clock_sync.h"
#include "server/run/input_store.h"
#include "server/run/untraced_reasons.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- statistics and problems ---- */

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct event_info *)a)->time_ns,
            y = ((const struct event_info *)b)->time_ns;
    return x < y ? -1 : x > y;
}

static void answer_clocks(const struct run *run, struct response *reply)
{
    struct clock_bound *bounds;
    size_t count = clock_sync_bounds(run, &bounds);
    for (size_t i = 0; i < count && i < LIMIT_EVENTS_SENT; i++) {
        const struct clock_tied *b = &bounds[i].bound;
        struct clock_info c = {.host = (char *)(uintptr_t)bounds[i].host,
                               .is_known = b->known,
                               .is_first = i == 0,
                               .is_uneven = b->uneven,
                               .at_ns = run->clock.start_ns + (uint64_t)bounds[i].at_ns,
                               .ahead_ns = bounds[i].ahead_ns};
        if (b->known) {
            c.low_ns = (int64_t)floor(b->ahead_ns.low);
            c.high_ns = (int64_t)ceil(b->ahead_ns.high);
            c.low_ppb = (int64_t)floor(b->drift.low * 1e9);
            c.high_ppb = (int64_t)ceil(b->drift.high * 1e9);
        }
        response_chunk_begin(reply, RESPONSE_CLOCK);
        encode_clock_info(reply->out, &c);
        response_chunk_end(reply);
    }
    free(bounds);
}

static void answer_stat(const struct run *run, struct decoder *in, struct response *reply)
{
    struct encoder *out = reply->out;
    if (!decoder_finish(in))
        return;
    if (run->verify)
        order_verify(run->order);
    struct order_figures f = order_figures(run->order);
    char *damage = damage_text(run, f.damaged);
    uint64_t unreadable = order_unreadable_events(run->order);
    struct stat_info s = {.lines = order_line_count(run->order),
                          .hidden_lines = order_hidden_lines(run->order),
                          .events = f.events - unreadable,
                          .pending = f.pending,
                          .lost = run_lost(run) + unreadable,
                          .contradictions = f.contradictions,
                          .duplicates = f.duplicates,
                          .texts = run->annotations.count,
                          .duration_ns = run->clock.last_ns,
                          .connected = run_connected(run),
                          .behind_ns = run->lag.ns,
                          .journal_ahead = run->lag.bytes,
                          .discarded = order_first(run->order),
                          .unfinished = run->file.unfinished,
                          .written = run->file.still_written,
                          .doubtful = f.doubtful,
                          .damage = damage};
    for (size_t i = 0; i < run->processes.count; i++) {
        s.waited_ns += run->processes.items[i].waited_ns;
        s.untraced += run->processes.items[i].unfollowed;
        s.cut_off += run->processes.items[i].unsent && !run->processes.items[i].connected;
    }
    s.unseen = untraced_reasons_list(run, &s.unseen_count);
    response_chunk_begin(reply, RESPONSE_STAT);
    encode_stat_info(out, &s);
    response_chunk_end(reply);
    free(damage);
    free(s.unseen);
    size_t count;
    const struct inconsistency *troubles = order_inconsistencies(run->order, &count);
    for (size_t i = 0; i < count && i < LIMIT_EVENTS_SENT; i++) {
        referenced_lines_note(troubles[i].at.line);
        referenced_lines_note(troubles[i].with.line);
        response_chunk_begin(reply, RESPONSE_INCONSISTENCY);
        encode_event_id(out, troubles[i].at);
        encode_event_id(out, troubles[i].with);
        encode_string(out, troubles[i].why);
        response_chunk_end(reply);
    }
    struct event_waiting pending = event_answer_pending_of(run, LIMIT_EVENTS_SENT);
    if (pending.count)
        qsort(pending.events, pending.count, sizeof *pending.events, by_time);
    for (size_t i = 0; i < pending.count; i++)
        event_answer_encode(reply, &pending.events[i]);
    event_answer_waiting_free(&pending);
    answer_clocks(run, reply);
}

const struct query query_stat = {.at_once = answer_stat};

/* ---- call sites ---- */

/* Returns the number of call sites without the calls that led there, of which each place has
 * one. */
static uint32_t download_plain_sites(const struct run *run)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->sites.count && count < LIMIT_SITES; i++)
        count += site_is_plain(&run->sites.items[i]);
    return count;
}

static void download_answer_sites(const struct run *run, struct decoder *in, struct response *reply)
{
    if (!decoder_finish(in))
        return;
    response_chunk_begin(reply, RESPONSE_SITES);
    encode_u32(reply->out, download_plain_sites(run));
    for (uint32_t i = 0, sent = 0; i < run->sites.count && sent < LIMIT_SITES; i++) {
        if (!site_is_plain(&run->sites.items[i]))
            continue;
        encode_u32(reply->out, run->sites.items[i].process);
        encode_u64(reply->out, run->sites.items[i].address);
        sent++;
    }
    response_chunk_end(reply);
}

const struct query query_sites = {.at_once = download_answer_sites};

/* ---- trace file ---- */

#define FETCH_BYTES (1u << 20)

static void download_answer_bytes(const struct run *run, struct decoder *in, struct response *reply)
{
    struct encoder *out = reply->out;
    uint64_t offset = decode_u64(in);
    if (!decoder_finish(in))
        return;
    struct stat st = {0};
    int fd = run->file.path ? open(run->file.path, O_RDONLY | O_CLOEXEC) : -1;
    uint8_t *bytes = xmalloc(FETCH_BYTES);
    ssize_t n = fd >= 0 && offset <= INT64_MAX && fstat(fd, &st) == 0
                    ? pread(fd, bytes, FETCH_BYTES, (off_t)offset)
                    : -1;
    response_chunk_begin(reply, RESPONSE_BYTES);
    encode_u64(out, offset);
    encode_u64(out, (uint64_t)st.st_size);
    encode_string(out, n < 0 ? strerror(errno) : "");
    encode_u32(out, n > 0 ? (uint32_t)n : 0);
    encode_bytes(out, bytes, n > 0 ? (size_t)n : 0);
    response_chunk_end(reply);
    if (fd >= 0)
        close(fd);
    free(bytes);
}

const struct query query_download = {.at_once = download_answer_bytes};

/* ---- recorded input, thread by thread, for replay ---- */

#define PART_BYTES_MOST 65536u

struct input_job {
    const struct run *run;
    bool whole; /* false: only the amount of data */
    size_t thread, at;
};

static void *input_query_begin(struct request_queue *queue, struct decoder *in)
{
    bool whole = decode_u8(in);
    if (!decoder_finish(in))
        return NULL;
    struct input_job *job = xcalloc(1, sizeof *job);
    job->whole = whole;
    job->run = queue->run;
    return job;
}

static bool input_query_step(void *job, uint64_t budget) { return true; }

/* Appends a part of the input of one thread; the first part has the header. */
static bool input_query_put(void *p, struct response *reply)
{
    struct input_job *job = p;
    if (job->thread >= input_store_threads(job->run))
        return true;
    const struct input_store_thread *t = input_store_thread(job->run, job->thread);
    size_t size = job->whole ? t->size - job->at : 0;
    size = size < PART_BYTES_MOST ? size : PART_BYTES_MOST;
    response_chunk_begin(reply, RESPONSE_INPUT);
    encode_u32(reply->out, t->line);
    encode_u64(reply->out, job->at ? 0 : t->calls);
    encode_u64(reply->out, job->at ? 0 : t->passed);
    encode_u8(reply->out, !job->at);
    encode_u8(reply->out, (uint8_t)(t->cut | t->streams << 1));
    encode_u32(reply->out, (uint32_t)size);
    encode_bytes(reply->out, t->bytes + job->at, size);
    response_chunk_end(reply);
    job->at += size;
    if (!job->whole || job->at >= t->size)
        job->thread++, job->at = 0;
    return job->thread >= input_store_threads(job->run);
}

const struct query query_input = {.begin = input_query_begin,
                                  .step = input_query_step,
                                  .put = input_query_put,
                                  .free = free,
                                  .most = 1,
                                  .stream = true};

/* ---- measurement settings, which are noted with the run and forwarded to its programs ---- */

static void answer_want(const struct run *run, struct decoder *in, struct response *reply)
{
    struct measurement_request request;
    struct run_settings *wants =
        (struct run_settings *)(uintptr_t)&run->settings; /* not part of any response */
    decode_measurement_request(in, &request);
    if (!decoder_finish(in)) {
        measurement_request_free(&request);
        return;
    }
    unsigned programs = run->status.live ? run->programs.connected : 0;
    if (!programs)
        measurement_request_free(&request);
    else if (!run_settings_add(wants, &request))
        programs = 0;
    response_chunk_begin(reply, RESPONSE_MEASURED_PROGRAMS);
    encode_u32(reply->out, programs);
    response_chunk_end(reply);
}

const struct query query_set_measurement = {.at_once = answer_want};

/* Request to change what programs measure from now on: it is noted with the run and forwarded to
 * them. */
#include "server/queries/query.h"
#include "wire/request_body.h"

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

#include "wire/cut_messages.h"

#include "wire/fields.h"
#include "wire/limits.h"

#include <stdlib.h>

void encode_cut_request(struct encoder *out, const struct cut_request *request)
{
    encode_u8(out, request->kind);
    encode_event_ids(out, request->events, request->event_count);
    encode_i64(out, request->from_ns);
    encode_i64(out, request->to_ns);
    encode_u32(out, request->near);
    encode_string(out, request->keeps);
    encode_numbers(out, request->lines, request->line_count);
}

void decode_cut_request(struct decoder *in, struct cut_request *request)
{
    *request = (struct cut_request){.kind = decode_u8(in)};
    request->events = decode_event_ids(in, &request->event_count);
    request->from_ns = decode_i64(in);
    request->to_ns = decode_i64(in);
    request->near = decode_u32(in);
    request->keeps = decode_string(in, LIMIT_TEXT_BYTES);
    request->lines = decode_numbers(in, &request->line_count);
    uint32_t least = request->kind == CUT_OF_RANGE     ? 0
                     : request->kind == CUT_OF_BETWEEN ? 2
                                                       : 1,
             most = request->kind == CUT_OF_PAST || request->kind == CUT_OF_NEAR ? CUT_EVENTS_MOST
                                                                                 : least;
    if (request->kind >= CUT_KINDS)
        decoder_fail(in, "unknown kind of cut");
    if (request->event_count < least || request->event_count > most ||
        request->line_count > LIMIT_LINES_ASKED)
        decoder_fail(in, "too few or too many events or lines of a cut");
}

void cut_request_free(struct cut_request *request)
{
    free(request->events);
    free(request->lines);
    free(request->keeps);
    *request = (struct cut_request){0};
}

void encode_cut_result(struct encoder *out, const struct cut_result *result)
{
    encode_string(out, result->problem);
    encode_u64(out, result->events);
    encode_u64(out, result->left_out);
    encode_u32(out, result->lines);
    encode_u32(out, result->threads_left_out);
    encode_u32(out, result->threads_continuing);
    encode_numbers(out, result->renumbered, result->renumbered_count);
}

void decode_cut_result(struct decoder *in, struct cut_result *result)
{
    *result = (struct cut_result){.problem = decode_string(in, LIMIT_TEXT_BYTES)};
    result->events = decode_u64(in);
    result->left_out = decode_u64(in);
    result->lines = decode_u32(in);
    result->threads_left_out = decode_u32(in);
    result->threads_continuing = decode_u32(in);
    result->renumbered = decode_numbers(in, &result->renumbered_count);
}

void cut_result_free(struct cut_result *result)
{
    free(result->problem);
    free(result->renumbered);
    *result = (struct cut_result){0};
}

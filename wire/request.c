#include "wire/request.h"

const char *request_type_name(unsigned what)
{
    switch (what) {
#define Q(number, NAME, name)                                                                      \
    case number:                                                                                   \
        return #NAME;
        REQUESTS(Q)
#undef Q
    default:
        return "unknown";
    }
}

const char *response_chunk_name(unsigned part)
{
    switch (part) {
#define P(number, NAME)                                                                            \
    case number:                                                                                   \
        return #NAME;
        RESPONSE_CHUNKS(P)
#undef P
    default:
        return "unknown";
    }
}

void encode_request(struct encoder *out, uint32_t id, enum request_type what,
                    const struct encoder *body)
{
    encoder_begin_message(out, MESSAGE_REQUEST);
    encode_u32(out, id);
    encode_u16(out, (uint16_t)what);
    if (body)
        encode_bytes(out, body->data, body->size);
    encoder_end_message(out);
}

void decode_request_header(struct decoder *in, struct request_header *asked)
{
    asked->id = decode_u32(in);
    asked->what = decode_u16(in);
    if (!in->error && !asked->id)
        decoder_fail(in, "request without an id");
}

void encode_cancel(struct encoder *out, uint32_t id)
{
    encoder_begin_message(out, MESSAGE_CANCEL);
    encode_u32(out, id);
    encoder_end_message(out);
}

void response_chunk_begin(struct response *reply, enum response_chunk_type part)
{
    encoder_begin_message(reply->out, MESSAGE_RESPONSE);
    encode_u32(reply->out, reply->id);
    encode_u8(reply->out, false);
    reply->last = reply->out->size;
    encode_u16(reply->out, (uint16_t)part);
}

void response_chunk_end(struct response *reply) { encoder_end_message(reply->out); }

void response_finish(struct response *reply)
{
    if (!reply->last) {
        response_chunk_begin(reply, RESPONSE_END);
        response_chunk_end(reply);
    }
    if (!reply->out->failed)
        reply->out->data[reply->last - 1] = true;
}

void response_error(struct encoder *out, uint32_t id, const char *why)
{
    struct response reply = {out, id, 0};
    response_chunk_begin(&reply, RESPONSE_ERROR);
    encode_string(out, why);
    response_chunk_end(&reply);
    response_finish(&reply);
}

void decode_response_chunk(struct decoder *in, struct response_chunk *answer)
{
    *answer = (struct response_chunk){.id = decode_u32(in), .in = in};
    answer->last = decode_u8(in) != 0;
    answer->part = decode_u16(in);
}

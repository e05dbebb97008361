#include "wire/ask.h"

const char *question_name(unsigned what)
{
    switch (what) {
#define Q(number, NAME, name)                                                                      \
    case number:                                                                                   \
        return #NAME;
        QUESTIONS(Q)
#undef Q
    default:
        return "unknown";
    }
}

const char *part_name(unsigned part)
{
    switch (part) {
#define P(number, NAME)                                                                            \
    case number:                                                                                   \
        return #NAME;
        PARTS(P)
#undef P
    default:
        return "unknown";
    }
}

void put_ask(struct out *out, uint32_t id, enum ask what, const struct out *body)
{
    out_begin(out, MESSAGE_ASK);
    put_u32(out, id);
    put_u16(out, (uint16_t)what);
    if (body)
        put_bytes(out, body->data, body->size);
    out_end(out);
}

void get_asked(struct in *in, struct asked *asked)
{
    asked->id = get_u32(in);
    asked->what = get_u16(in);
    if (!in->error && !asked->id)
        in_fail(in, "a question without an id");
}

void put_cancel(struct out *out, uint32_t id)
{
    out_begin(out, MESSAGE_CANCEL);
    put_u32(out, id);
    out_end(out);
}

void part_begin(struct reply *reply, enum part part)
{
    out_begin(reply->out, MESSAGE_ANSWER);
    put_u32(reply->out, reply->id);
    put_u8(reply->out, false);
    reply->last = reply->out->size;
    put_u16(reply->out, (uint16_t)part);
}

void part_end(struct reply *reply) { out_end(reply->out); }

void reply_done(struct reply *reply)
{
    if (!reply->last) {
        part_begin(reply, PART_END);
        part_end(reply);
    }
    if (!reply->out->failed)
        reply->out->data[reply->last - 1] = true;
}

void reply_refuse(struct out *out, uint32_t id, const char *why)
{
    struct reply reply = {out, id, 0};
    part_begin(&reply, PART_REFUSAL);
    put_string(out, why);
    part_end(&reply);
    reply_done(&reply);
}

void get_answer(struct in *in, struct answer *answer)
{
    *answer = (struct answer){.id = get_u32(in), .in = in};
    answer->last = get_u8(in) != 0;
    answer->part = get_u16(in);
}

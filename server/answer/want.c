/* Programs are to measure something from now on: it is noted with the run, and passed on to them. */
#include "server/answer/question.h"
#include "wire/asked.h"

static void answer_want(const struct run *run, struct in *in, struct reply *reply)
{
    struct want_request request;
    struct wants *wants = (struct wants *)(uintptr_t)&run->wants; /* nothing that answers say */
    get_want_request(in, &request);
    if (!in_done(in)) {
        want_request_free(&request);
        return;
    }
    unsigned programs = run->live ? run->connected : 0;
    if (!programs)
        want_request_free(&request);
    else if (!wants_add(wants, &request))
        programs = 0;
    part_begin(reply, PART_WANTED);
    put_u32(reply->out, programs);
    part_end(reply);
}

const struct question question_want = {.at_once = answer_want};

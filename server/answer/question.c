#include "server/answer/question.h"

#include "server/answer/answer.h"
#include "server/answer/finding.h"
#include "server/run/unseen.h"

#include <stdlib.h>

#define TAILS_AT_ONCE 500u

struct question {
    const struct run *run;
    uint64_t first; /* of the order, when the pair was begun: what is forgotten since is not there */
    unsigned type;
    struct pair {
        struct ref a, b;
        uint8_t answer; /* 1 + a precedence, 0: one of them is not known */
        uint32_t reasons;
    } *pairs;
    size_t count, room, at;
    bool begun;
    struct comparison *comparison;
    struct chain *chain;
    struct count_job *counting; /* of a COUNT */
    uint32_t line; /* of a TAILS: the last one that was told */
};

struct question *question_new(const struct run *run, unsigned type, struct in *in)
{
    struct question *q = calloc(1, sizeof *q);
    if (!q)
        abort();
    *q = (struct question){.run = run, .type = type, .comparison = comparison_new(run->order)};
    if (type == MESSAGE_COUNT) {
        q->counting = count_begin(run, get_ref(in));
        return q;
    }
    while (in_left(in) >= 24 && (type == MESSAGE_ORDER || q->count == 0)) {
        struct pair pair = {.a = get_ref(in)};
        pair.b = get_ref(in);
        q->pairs = grow(q->pairs, &q->room, q->count + 1, sizeof *q->pairs);
        q->pairs[q->count++] = pair;
    }
    return q;
}

static void question_free(void *p)
{
    struct question *q = p;
    count_free(q->counting);
    comparison_free(q->comparison);
    chain_free(q->chain);
    free(q->pairs);
    free(q);
}

static bool exists(const struct run *run, struct ref at)
{
    uint32_t lines = at.line & HIDDEN_LINE ? order_hidden_lines(run->order)
                                           : order_lines(run->order);
    uint32_t line = at.line & ~HIDDEN_LINE;
    return line && line <= lines && at.number && at.number <= order_line_highest(run->order, at.line);
}

static void begin(struct question *q, struct pair *pair)
{
    chain_free(q->chain);
    q->chain = NULL;
    q->first = order_first(q->run->order);
    q->begun = true;
    comparison_begin(q->comparison, pair->a, pair->b);
}

static bool step(struct question *q, struct pair *pair, uint64_t budget)
{
    if (!q->begun || q->first != order_first(q->run->order))
        begin(q, pair);
    if (!q->chain && !comparison_step(q->comparison, budget))
        return false;
    enum precedence answer = comparison_answer(q->comparison);
    pair->reasons = comparison_reasons(q->comparison);
    if (answer == ORDER_CONCURRENT && (pair->reasons = unseen_hiding(q->run)) != 0)
        answer = ORDER_UNKNOWN;
    else if (answer == ORDER_CONCURRENT)
        pair->reasons = unseen_mechanisms(q->run);
    pair->answer = (uint8_t)(1 + answer);
    if (q->type == MESSAGE_ORDER || answer != ORDER_BEFORE)
        return true;
    if (!q->chain)
        q->chain = chain_new(q->run->order, pair->a, pair->b);
    return chain_step(q->chain, budget);
}

static bool question_step(void *p, uint64_t budget)
{
    struct question *q = p;
    uint64_t spent = 0;
    if (q->type == MESSAGE_TAILS)
        return true;
    if (q->counting)
        return count_step(q->counting, budget);
    for (; q->at < q->count && spent < budget; spent += 1000) {
        struct pair *pair = &q->pairs[q->at];
        if (exists(q->run, pair->a) && exists(q->run, pair->b) && !step(q, pair, budget))
            return false;
        q->begun = false;
        q->at++;
    }
    return q->at == q->count;
}

static void put_why(struct question *q, struct out *out)
{
    struct ref *chain = NULL;
    size_t count = q->chain ? chain_find(q->chain, &chain) : 0;
    out_begin(out, MESSAGE_WHY_IS);
    put_u8(out, q->count && q->pairs[0].answer);
    put_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_ref(out, chain[i]);
    out_end(out);
    for (size_t i = 0; i < count; i++) /* for those who want to read it */
        answer_event(out, q->run, chain[i]);
    free(chain);
}

static bool question_put(void *p, struct out *out)
{
    struct question *q = p;
    if (q->type == MESSAGE_TAILS)
        return answer_tails(out, q->run, &q->line, TAILS_AT_ONCE);
    if (q->counting) {
        count_put(q->counting, out);
        return true;
    }
    if (q->type == MESSAGE_WHY) {
        put_why(q, out);
        return true;
    }
    out_begin(out, MESSAGE_ORDER_IS);
    for (size_t i = 0; i < q->count; i++) {
        put_u8(out, q->pairs[i].answer);
        put_u32(out, q->pairs[i].reasons);
    }
    out_end(out);
    return true;
}

const struct job_sort question_jobs = {question_step, question_put, question_free, LIMIT_QUESTIONS};

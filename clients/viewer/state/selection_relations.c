#include "clients/viewer/state/selection_relations.h"

#include "wire/event_types.h"

#define CLICK_MS 100u /* limit of the server's time for the counts of a click */

static void relations_receive_order(void *user, const struct response_chunk *answer)
{
    struct selection_relations *ties = user;
    if (answer->part != RESPONSE_ORDER)
        return;
    ties->related = (int8_t)(decode_u8(answer->in) - 1);
    ties->reasons = decode_u32(answer->in);
    notifier_emit(ties->notifier, NOTIFY_SELECTION_RELATIONS);
}

static void free_chain(struct selection_relations *ties)
{
    for (uint32_t i = 0; i < ties->chain_count; i++)
        event_info_free(&ties->events[i]);
    g_clear_pointer(&ties->chain, g_free);
    g_clear_pointer(&ties->events, g_free);
    ties->chain_count = ties->chain_room = 0;
}

void selection_relations_clear(struct selection_relations *ties)
{
    free_chain(ties);
    ties->related = -1;
    ties->reasons = 0;
    ties->count = (struct relation_counts){0};
    between_info_free(&ties->span);
}

static void begin_chain(struct selection_relations *ties, uint32_t length)
{
    if (!length)
        return;
    free_chain(ties);
    ties->chain = g_new0(struct event_id, length);
    ties->events = g_new0(struct event_info, length);
    ties->chain_room = length;
}

static void add_to_chain(struct selection_relations *ties, struct decoder *in)
{
    struct event_info event;
    decode_event_info(in, &event);
    if (decoder_finish(in) && ties->chain_count < ties->chain_room) {
        ties->chain[ties->chain_count] = event.at;
        ties->events[ties->chain_count++] = event;
    } else {
        event_info_free(&event);
    }
}

static void relations_receive_chain(void *user, const struct response_chunk *answer)
{
    struct selection_relations *ties = user;
    if (answer->part == RESPONSE_CHAIN) {
        decode_u8(answer->in);
        begin_chain(ties, decode_count(answer->in, 12));
    }
    if (answer->part == RESPONSE_EVENT) {
        add_to_chain(ties, answer->in);
        notifier_emit(ties->notifier, NOTIFY_LOOK);
    }
    notifier_emit(ties->notifier, NOTIFY_SELECTION_RELATIONS);
}

static void relations_receive_between(void *user, const struct response_chunk *answer)
{
    struct selection_relations *ties = user;
    if (answer->part != RESPONSE_BETWEEN)
        return;
    between_info_free(&ties->span);
    decode_between(answer->in, &ties->span);
    notifier_emit(ties->notifier, NOTIFY_SELECTION_RELATIONS);
}

static void relations_request_between(struct selection_relations *ties, struct event_id from,
                                      struct event_id to)
{
    struct encoder body = {0};
    encode_event_id(&body, from);
    encode_event_id(&body, to);
    encode_u32(&body, CLICK_MS);
    request_slot_send(ties->link, &ties->spanning, REQUEST_BETWEEN, &body,
                      relations_receive_between, ties);
}

/* Requests the chain in both directions, since either event may be the earlier one. */
void selection_relations_request(struct selection_relations *ties, struct event_id selected,
                                 struct event_id second)
{
    struct event_id ends[2] = {selected, second};
    struct encoder body = {0};
    request_slot_cancel(ties->link, &ties->ordering);
    request_slot_cancel(ties->link, &ties->chaining[0]);
    request_slot_cancel(ties->link, &ties->chaining[1]);
    request_slot_cancel(ties->link, &ties->spanning);
    between_info_free(&ties->span);
    if (!ends[0].line || !ends[1].line)
        return;
    encode_event_id(&body, ends[0]);
    encode_event_id(&body, ends[1]);
    free_chain(ties);
    notifier_emit(ties->notifier, NOTIFY_LOOK);
    relations_request_between(ties, selected, second);
    request_slot_send(ties->link, &ties->ordering, REQUEST_ORDER, &body, relations_receive_order,
                      ties);
    for (int direction = 0; direction < 2; direction++) {
        body = (struct encoder){0};
        encode_event_id(&body, ends[direction]);
        encode_event_id(&body, ends[!direction]);
        request_slot_send(ties->link, &ties->chaining[direction], REQUEST_CAUSAL_CHAIN, &body,
                          relations_receive_chain, ties);
    }
}

static void relations_receive_count(void *user, const struct response_chunk *answer)
{
    struct selection_relations *ties = user;
    if (answer->part == RESPONSE_COUNT)
        decode_relation_counts(answer->in, &ties->count);
    ties->counts_on &= !answer->last;
    notifier_emit(ties->notifier, NOTIFY_SELECTION_RELATIONS);
}

void selection_relations_count(struct selection_relations *ties, struct event_id selected, bool on)
{
    struct encoder body = {0};
    selection_relations_stop_count(ties);
    if (!selected.line)
        return;
    ties->counts_on = on;
    encode_event_id(&body, selected);
    encode_u32(&body, on ? 0 : CLICK_MS);
    request_slot_send(ties->link, &ties->counting, REQUEST_COUNT, &body, relations_receive_count,
                      ties);
}

void selection_relations_stop_count(struct selection_relations *ties)
{
    request_slot_cancel(ties->link, &ties->counting);
    ties->counts_on = false;
}

bool selection_relations_set_deadlock(struct selection_relations *ties,
                                      const struct event_id *pairs, uint32_t count)
{
    bool same = count == ties->stuck_count;
    for (uint32_t i = 0; same && i < count; i++)
        same = event_id_equal(pairs[i], ties->stuck[i]);
    if (same)
        return false;
    g_free(ties->stuck);
    ties->stuck = count ? g_memdup2(pairs, count * sizeof *pairs) : NULL;
    ties->stuck_count = count;
    notifier_emit(ties->notifier, NOTIFY_LOOK);
    return true;
}

/* Request slots of the viewer: at most one request of a slot is pending, and the newest one that
 * was wanted meanwhile is sent afterwards; and events that a table highlights. */
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- a server without a connection ---- */

static uint32_t sent, pending; /* ids: the last one, and the one that is pending */
static unsigned cancelled;

uint32_t server_link_request(struct server_link *link, enum request_type what, struct encoder *body,
                             source_take *take, void *user)
{
    (void)what;
    (void)take;
    (void)user;
    if (body)
        encoder_free(body);
    return link->connected ? pending = ++sent : 0;
}

bool session_request_is_open(const struct session *source, uint32_t id)
{
    (void)source;
    return id && id == pending;
}

void session_cancel_request(struct session *source, uint32_t id)
{
    (void)source;
    assert_int_equal(id, pending);
    pending = 0;
    cancelled++;
}

struct asking {
    struct server_link link;
    struct request_slot slot;
};

static void begin(struct asking *a)
{
    memset(a, 0, sizeof *a);
    a->link.connected = a->link.has_run = true;
    sent = pending = cancelled = 0;
}

static void take(void *user, const struct response_chunk *answer)
{
    (void)user;
    (void)answer;
}

static void ask(struct asking *a)
{
    request_slot_send(&a->link, &a->slot, REQUEST_SITES, NULL, take, NULL);
}

/* Returns whether a request must be sent again after a part of the response. */
static bool answered(struct asking *a, bool last)
{
    struct response_chunk answer = {.last = last};
    pending = last ? 0 : pending;
    return request_slot_resend_needed(&a->slot, &answer);
}

static void a_newer_request_replaces_the_pending_one(void **state)
{
    static struct asking a;
    (void)state;
    begin(&a);
    assert_false(request_slot_is_running(&a.link, &a.slot));
    ask(&a);
    assert_true(request_slot_is_running(&a.link, &a.slot));
    ask(&a);
    assert_int_equal(cancelled, 1);
    assert_int_equal(a.slot.id, 2);
    assert_false(answered(&a, true));
    ask(&a);
    assert_int_equal(cancelled, 1); /* it was not pending any more */
}

static void what_was_wanted_meanwhile_is_sent_once(void **state)
{
    static struct asking a;
    (void)state;
    begin(&a);
    assert_true(request_slot_try_acquire(&a.link, &a.slot));
    ask(&a);
    assert_false(request_slot_try_acquire(&a.link, &a.slot));
    assert_false(request_slot_try_acquire(&a.link, &a.slot));
    assert_false(answered(&a, false)); /* more parts follow */
    assert_true(answered(&a, true));
    assert_false(answered(&a, true));
    assert_true(request_slot_try_acquire(&a.link, &a.slot));
    ask(&a);
    assert_false(answered(&a, true));
    assert_int_equal(cancelled, 0);
}

static void a_cancelled_request_is_not_sent_again(void **state)
{
    static struct asking a;
    (void)state;
    begin(&a);
    ask(&a);
    assert_false(request_slot_try_acquire(&a.link, &a.slot));
    request_slot_cancel(&a.link, &a.slot);
    assert_int_equal(cancelled, 1);
    assert_false(request_slot_is_running(&a.link, &a.slot));
    assert_false(answered(&a, true));
    request_slot_cancel(&a.link, &a.slot);
    assert_int_equal(cancelled, 1);
}

static void without_a_run_nothing_may_be_sent(void **state)
{
    static struct asking a;
    (void)state;
    begin(&a);
    a.link.has_run = false;
    assert_false(request_slot_try_acquire(&a.link, &a.slot));
    assert_false(a.slot.again);
    begin(&a);
    ask(&a);
    a.link.connected = false; /* it was lost */
    assert_false(request_slot_is_running(&a.link, &a.slot));
    assert_false(request_slot_try_acquire(&a.link, &a.slot));
    ask(&a);
    assert_int_equal(cancelled, 0);
    assert_int_equal(a.slot.id, 0);
}

/* ---- windows ---- */

static void a_window_is_read_whole_or_not_at_all(void **state)
{
    struct window_info is = {.row_count = 0}, again;
    struct encoder body = {0};
    (void)state;
    encode_window(&body, &is);
    for (size_t size = 0; size <= body.size; size++) {
        struct decoder in = decoder_init(body.data, size);
        struct response_chunk answer = {.part = RESPONSE_WINDOW, .in = &in};
        bool whole = request_slot_read_window(&answer, &again);
        assert_int_equal(whole, size == body.size);
        if (whole)
            window_info_free(&again);
    }
    struct decoder in = decoder_init(body.data, body.size);
    struct response_chunk other = {.part = RESPONSE_FOUND, .in = &in};
    assert_false(request_slot_read_window(&other, &again));
    encoder_free(&body);
}

/* ---- highlights ---- */

static void highlighted_events_are_sorted_and_there_once(void **state)
{
    unsigned random = 4;
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        enum { LINES = 6, NUMBERS = 8 };
        bool wanted[LINES][NUMBERS] = {{false}};
        struct highlights m = {.event_count = 0};
        for (unsigned part = execution_random(&random, 4); part > 0; part--) {
            struct event_id events[20];
            uint32_t count = execution_random(&random, 20);
            for (uint32_t i = 0; i < count; i++) {
                events[i] = (struct event_id){execution_random(&random, LINES),
                                              execution_random(&random, NUMBERS)};
                wanted[events[i].line][events[i].number] |= events[i].line != 0;
            }
            highlights_add(&m, events, count);
        }
        uint32_t at = 0;
        for (uint32_t line = 0; line < LINES; line++)
            for (uint32_t number = 0; number < NUMBERS; number++)
                if (wanted[line][number]) {
                    assert_true(at < m.event_count);
                    assert_int_equal(m.events[at].line, line);
                    assert_int_equal(m.events[at++].number, number);
                }
        assert_int_equal(m.event_count, at);
        highlights_clear(&m);
    }
}

static void highlights_are_replaced(void **state)
{
    struct highlights m = {.event_count = 0};
    const struct event_id events[] = {{2, 1}, {1, 7}};
    const uint32_t lines[] = {3, 4};
    (void)state;
    highlights_set(&m, events, 2, lines, 2);
    assert_true(highlights_has_line(&m, 3) && highlights_has_line(&m, 4));
    assert_false(highlights_has_line(&m, 1));
    highlights_set(&m, events, 1, NULL, 0);
    assert_int_equal(m.event_count, 1);
    assert_false(highlights_has_line(&m, 3));
    highlights_clear(&m);
    assert_int_equal(m.event_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_request_replaces_the_pending_one),
        cmocka_unit_test(what_was_wanted_meanwhile_is_sent_once),
        cmocka_unit_test(a_cancelled_request_is_not_sent_again),
        cmocka_unit_test(without_a_run_nothing_may_be_sent),
        cmocka_unit_test(a_window_is_read_whole_or_not_at_all),
        cmocka_unit_test(highlighted_events_are_sorted_and_there_once),
        cmocka_unit_test(highlights_are_replaced),
    };
    return cmocka_run_group_tests_name("asked", tests, NULL, NULL);
}

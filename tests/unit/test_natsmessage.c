/* Messages in a NATS stream: unambiguous names, addresses, and batches that are split into
 * messages and assembled again. */
#include "server/forwarding/nats_message.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void is_text(char *got, const char *wanted)
{
    assert_string_equal(got, wanted);
    free(got);
}

static void names(void **state)
{
    uint8_t id[FORWARD_ID_BYTES] = {0xde, 0xad, 1};
    (void)state;
    is_text(nats_name("job-7"), "job-7");
    is_text(nats_name("a.b c*"), "a_2Eb_20c_2A");
    is_text(nats_name("a_2Eb"), "a_5F2Eb"); /* differs from the encoding of another name */
    is_text(nats_name("\xc3\xa9>"), "_C3_A9_3E");
    is_text(nats_name(""), "_");
    is_text(nats_name("_"), "_5F");
    is_text(nats_stream("x y"), "poet-x_20y");
    is_text(nats_subject("x y", NULL), "poet.x_20y.*");
    is_text(nats_subject("j", id), "poet.j.dead0100000000000000000000000000");
}

static void is_where(const char *where, const char *url, const char *shown, const char *host,
                     const char *port, const char *run)
{
    struct nats_address read;
    struct error error;
    assert_true(nats_address_parse(&read, where, &error));
    assert_string_equal(read.url, url);
    assert_string_equal(read.shown, shown);
    assert_string_equal(read.host, host);
    assert_string_equal(read.port, port);
    assert_int_equal(!read.run, !run);
    if (run)
        assert_string_equal(read.run, run);
    nats_address_free(&read);
}

static void addresses(void **state)
{
    struct nats_address read;
    struct error error;
    static const char *const wrong[] = {
        "nats://",      "nats://a:",  "nats://a:0", "nats://a:70000", "nats://a:1x",
        "nats://:4222", "poet://a:1", "nats://u@",  "nats://[::1",    "a",
        "tls://#run",   "a#nats://b"};
    (void)state;
    is_where("nats://a:1", "nats://a:1", "nats://a:1", "a", "1", NULL);
    is_where("nats://a#r#s", "nats://a:4222", "nats://a", "a", "4222", "r#s");
    is_where("tls://u:p@q@a:7#", "tls://u:p@q@a:7", "tls://a:7", "a", "7", "");
    is_where("nats://u:p@[::1]:9", "nats://u:p@[::1]:9", "nats://[::1]:9", "::1", "9", NULL);
    is_where("tls://[::1]", "tls://[::1]:4222", "tls://[::1]", "::1", "4222", NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(nats_address_parse(&read, wrong[i], &error));
    assert_false(nats_address_parse(&read, "nats://user:secret@host:x", &error));
    assert_null(strstr(error.text, "secret")); /* nor in the error message */
    assert_true(nats_is_address("tls://a"));
    assert_false(nats_is_address("unix:/nats://a"));
}

/* ---- messages ---- */

#define BYTES 1000u

static struct nats_message some(uint8_t *packed)
{
    for (size_t i = 0; i < BYTES; i++)
        packed[i] = (uint8_t)(i * 7);
    struct nats_message message = {.id = "an id", .ends = true};
    message.batch = (struct forwarded_batch){
        .first = 40, .count = 5, .raw = 3000, .packed = packed, .packed_bytes = BYTES};
    return message;
}

/* Passes one part through encoding, decoding and assembly. Returns whether the batch is
 * complete. */
static bool through(struct nats_assembly *assembly, struct nats_message whole, uint32_t part,
                    size_t most, struct nats_message *read)
{
    static struct encoder out;
    whole.part = part;
    whole.parts = nats_parts(BYTES, most);
    encoder_free(&out);
    out = (struct encoder){0};
    encode_nats_message(&out, &whole, most);
    assert_true(out.size <= most);
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(decode_nats_message(&in, read));
    assert_int_equal(nats_next(read), part + 1 == whole.parts ? 45 : 40);
    bool good = nats_assemble(assembly, read);
    if (good) {
        assert_true(read->ends && read->batch.first == 40 && read->batch.count == 5);
        assert_memory_equal(read->id, whole.id, FORWARD_ID_BYTES);
        assert_int_equal(read->batch.packed_bytes, BYTES);
        assert_memory_equal(read->batch.packed, whole.batch.packed, BYTES);
    }
    return good;
}

static void split(void **state)
{
    uint8_t packed[BYTES];
    struct nats_message whole = some(packed), read;
    struct nats_assembly assembly = {0};
    (void)state;
    assert_int_equal(nats_parts(BYTES, BYTES + NATS_HEAD_BYTES), 1);
    assert_int_equal(nats_parts(BYTES, BYTES + NATS_HEAD_BYTES - 1), 2);
    assert_int_equal(nats_parts(BYTES, NATS_HEAD_BYTES + 1), BYTES);
    assert_int_equal(nats_parts(BYTES, NATS_HEAD_BYTES), 0);
    assert_int_equal(nats_parts(SIZE_MAX / 2, NATS_HEAD_BYTES + 1), 0);
    assert_true(through(&assembly, whole, 0, 4096, &read));
    for (size_t most = NATS_HEAD_BYTES + 1; most < NATS_HEAD_BYTES + BYTES; most += 13) {
        uint32_t parts = nats_parts(BYTES, most);
        for (uint32_t part = 0; part < parts; part++)
            assert_int_equal(through(&assembly, whole, part, most, &read), part + 1 == parts);
    }
    /* missing, truncated or repeated parts complete nothing, but the next whole batch does */
    size_t most = NATS_HEAD_BYTES + 300;
    assert_false(through(&assembly, whole, 0, most, &read));
    assert_false(through(&assembly, whole, 2, most, &read));
    assert_false(through(&assembly, whole, 3, most, &read));
    assert_false(through(&assembly, whole, 1, most, &read));
    for (uint32_t part = 0; part < 2; part++)
        assert_false(through(&assembly, whole, part, most, &read));
    for (uint32_t part = 0; part < 4; part++)
        assert_int_equal(through(&assembly, whole, part, most, &read), part == 3);
    encoder_free(&assembly.packed);
}

static void nonsense(void **state)
{
    uint8_t packed[BYTES];
    struct nats_message whole = some(packed), read;
    struct encoder out = {0};
    (void)state;
    whole.parts = 1;
    encode_nats_message(&out, &whole, 4096);
    for (size_t size = 0; size < NATS_HEAD_BYTES; size++) { /* cut off */
        struct decoder in = decoder_init(out.data, size);
        assert_false(decode_nats_message(&in, &read));
    }
    for (size_t at = 0; at < 8; at++) { /* another magic number, or another version */
        out.data[at] ^= 0x55;
        struct decoder in = decoder_init(out.data, out.size);
        assert_false(decode_nats_message(&in, &read));
        out.data[at] ^= 0x55;
    }
    static const uint32_t parts[][2] = {{0, 0}, {1, 1}, {0, NATS_PARTS_MAX + 1}};
    for (size_t i = 0; i < 3; i++) {
        out.size = 0;
        whole.part = parts[i][0];
        whole.parts = parts[i][1];
        encode_nats_message(&out, &whole, NATS_HEAD_BYTES + 1);
        struct decoder in = decoder_init(out.data, out.size);
        assert_false(decode_nats_message(&in, &read));
    }
    encoder_free(&out);
}

static void clocks(void **state)
{
    struct encoder out = {0};
    struct nats_answer told = {.asked = 5,
                               .received = UINT64_MAX,
                               .replied = 7,
                               .host = (char[]){"a host"}},
                       read;
    uint64_t asked;
    (void)state;
    is_text(nats_clock_subject("x y"), "poet.x_20y.clock.ask");
    encode_nats_request(&out, 5);
    for (size_t size = 0; size < out.size; size++) {
        struct decoder in = decoder_init(out.data, size);
        assert_false(decode_nats_request(&in, &asked));
    }
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(decode_nats_request(&in, &asked));
    assert_int_equal(asked, 5);
    out.size = 0;
    encode_nats_response(&out, &told);
    for (size_t size = 0; size < out.size; size++) {
        in = decoder_init(out.data, size);
        assert_false(decode_nats_response(&in, &read));
        assert_null(read.host);
    }
    in = decoder_init(out.data, out.size);
    assert_true(decode_nats_response(&in, &read));
    assert_true(read.asked == 5 && read.received == UINT64_MAX && read.replied == 7);
    is_text(read.host, "a host");
    encode_u8(&out, 0); /* trailing bytes */
    in = decoder_init(out.data, out.size);
    assert_false(decode_nats_response(&in, &read));
    out.size = 0;
    char name[NATS_HOST_BYTES + 2];
    memset(name, 'h', sizeof name - 1);
    name[sizeof name - 1] = 0;
    told.host = name;
    encode_nats_response(&out, &told);
    in = decoder_init(out.data, out.size);
    assert_false(decode_nats_response(&in, &read));
    encoder_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),    cmocka_unit_test(addresses), cmocka_unit_test(split),
        cmocka_unit_test(nonsense), cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

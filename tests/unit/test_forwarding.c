/* Forwarding: keys, TLS over a pair of sockets, batches of chunks, following a journal while it is
 * written, clock offsets. */
#define _GNU_SOURCE
#include "server/connections/clock_samples.h"
#include "server/transport/compression.h"
#include "server/transport/tls_channel.h"
#include "server/tracefile/journal_follow.h"
#include "server/tracefile/tracefile.h"
#include "tests/unit/unit.h"
#include "wire/forwarding_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- keys ---- */

static void keys(void **state)
{
    char path[] = "/tmp/poet-key-XXXXXX", *file = path;
    struct network_key key, again;
    struct error error;
    (void)state;
    close(mkstemp(file));
    assert_false(network_key_make(file, &error)); /* a file is never overwritten */
    assert_non_null(strstr(error.text, "already exists"));
    unlink(file);
    assert_false(network_key_read(file, &key, &error));
    assert_non_null(strstr(error.text, "create one with poet key"));
    assert_true(network_key_make(file, &error));
    struct stat st;
    stat(file, &st);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_size, 65);
    assert_true(network_key_read(file, &key, &error));
    assert_true(network_key_read(file, &again, &error));
    assert_memory_equal(&key, &again, sizeof key);
    chmod(file, 0640);
    assert_false(network_key_read(file, &key, &error));
    assert_non_null(strstr(error.text, "key is readable by others"));
    chmod(file, 0600);
    static const char *const bad[] = {"", "abc\n", "zz", "\0\0\0"};
    for (size_t i = 0; i < 4; i++) {
        FILE *f = fopen(file, "w");
        fputs(bad[i], f);
        fclose(f);
        assert_false(network_key_read(file, &key, &error));
        assert_non_null(strstr(error.text, "not a key"));
    }
    FILE *f = fopen(file, "w"); /* one digit too many */
    for (int i = 0; i < 66; i++)
        fputc('a', f);
    fclose(f);
    assert_false(network_key_read(file, &key, &error));
    unlink(file);
}

/* ---- TLS ---- */

struct pair {
    int fds[2];
    struct tls *ends[2]; /* the server, the client */
};

static struct network_key a_key(uint8_t first)
{
    struct network_key key;
    memset(&key, 7, sizeof key);
    key.bytes[0] = first;
    return key;
}

static struct pair pair_of(uint8_t server, uint8_t client)
{
    struct pair pair;
    struct error error;
    struct network_key keys[] = {a_key(server), a_key(client)};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fds), 0);
    for (int i = 0; i < 2; i++)
        assert_non_null(pair.ends[i] = tls_new(pair.fds[i], i == 0, &keys[i], &error));
    return pair;
}

static void pair_free(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        tls_free(pair->ends[i]);
        if (pair->fds[i] >= 0)
            close(pair->fds[i]);
    }
}

/* Lets both ends read until they are authenticated or one fails. Returns true if both are. */
static bool shake(struct pair *pair)
{
    char nothing[TLS_RECORD_BYTES];
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 2; k++)
            if (tls_read(pair->ends[k], nothing, sizeof nothing) < 0 && errno != EAGAIN)
                return false;
    return tls_is_authenticated(pair->ends[0]) && tls_is_authenticated(pair->ends[1]);
}

static void tls_carries(void **state)
{
    struct pair pair = pair_of(1, 1);
    size_t size = 3u << 20, sent = 0, got = 0;
    uint8_t *from = malloc(size), *to = malloc(size + TLS_RECORD_BYTES);
    (void)state;
    for (size_t i = 0; i < size; i++)
        from[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_true(shake(&pair));
    while (got < size) { /* more than the socket holds: writes are resumed */
        ssize_t n = sent < size ? tls_write(pair.ends[1], from + sent, size - sent) : 0;
        assert_true(n >= 0 || errno == EAGAIN);
        sent += n > 0 ? (size_t)n : 0;
        n = tls_read(pair.ends[0], to + got, TLS_RECORD_BYTES);
        assert_true(n > 0 || errno == EAGAIN);
        got += n > 0 ? (size_t)n : 0;
    }
    assert_int_equal(got, size);
    assert_memory_equal(from, to, size);
    tls_free(pair.ends[1]); /* sends close_notify */
    pair.ends[1] = NULL;
    assert_int_equal(tls_read(pair.ends[0], to, TLS_RECORD_BYTES), 0);
    pair_free(&pair);
    free(from);
    free(to);
}

static void tls_refuses(void **state)
{
    (void)state;
    struct pair pair = pair_of(1, 2);
    assert_false(shake(&pair));
    assert_false(tls_is_authenticated(pair.ends[0]));
    char nothing[TLS_RECORD_BYTES];
    int failed = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++)
            if (tls_read(pair.ends[k], nothing, sizeof nothing) < 0 && errno == EPROTO) {
                failed |= 1 << k;
                assert_non_null(strstr(tls_error_text(pair.ends[k]), "key mismatch"));
            }
    assert_int_equal(failed, 3); /* both ends notice it, and stay failed */
    pair_free(&pair);
    /* no TLS; a ClientHello of TLS 1.0 without 1.3 */
    static const char *const strangers[] = {"\x0b\x00\x00\x00\x01\x00PO",
                                            "\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x01"};
    for (size_t i = 0; i < 2; i++) {
        pair = pair_of(1, 1);
        char hello[64] = {0};
        memcpy(hello, strangers[i], i ? 11 : 8);
        hello[i ? 47 : 63] = 2; /* a cipher suite of 2 bytes, or nothing */
        assert_int_equal(write(pair.fds[1], hello, sizeof hello), sizeof hello);
        for (int k = 0; k < 3; k++)
            assert_int_equal(tls_read(pair.ends[0], nothing, sizeof nothing), -1);
        assert_int_equal(errno, EPROTO);
        assert_false(tls_is_authenticated(pair.ends[0]));
        pair_free(&pair);
    }
}

/* Bytes recorded from one connection are rejected in another. */
static void tls_replayed(void **state)
{
    uint8_t sent[65536], received[65536];
    size_t size = 0;
    char nothing[TLS_RECORD_BYTES];
    int between[2];
    struct pair pair;
    struct error error;
    struct network_key key = a_key(1);
    (void)state;
    /* client - fds[1] | fds[0] - here - between[1] | between[0] - server */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fds), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, between), 0);
    pair.ends[0] = tls_new(between[0], true, &key, &error);
    pair.ends[1] = tls_new(pair.fds[1], false, &key, &error);
    for (int i = 0; i < 20; i++) {
        tls_read(pair.ends[1], nothing, sizeof nothing);
        if (tls_is_authenticated(pair.ends[1]) && i == 10)
            assert_int_equal(tls_write(pair.ends[1], "twice?", 6), 6);
        ssize_t n = read(pair.fds[0], sent + size, sizeof sent - size);
        if (n > 0) {
            assert_int_equal(write(between[1], sent + size, (size_t)n), n);
            size += (size_t)n;
        }
        ssize_t got = tls_read(pair.ends[0], nothing, sizeof nothing);
        assert_true(got == 6 || got == -1);
        n = read(between[1], received, sizeof received);
        if (n > 0)
            assert_int_equal(write(pair.fds[0], received, (size_t)n), n);
    }
    assert_true(tls_is_authenticated(pair.ends[0]));
    pair_free(&pair);
    close(between[0]);
    close(between[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fds), 0);
    pair.ends[0] = tls_new(pair.fds[0], true, &key, &error);
    pair.ends[1] = NULL;
    assert_int_equal(write(pair.fds[1], sent, size), (ssize_t)size);
    for (int i = 0; i < 10; i++)
        assert_int_equal(tls_read(pair.ends[0], nothing, sizeof nothing), -1);
    assert_false(tls_is_authenticated(pair.ends[0]));
    assert_int_equal(errno, EPROTO);
    pair_free(&pair);
}

/* ---- batches ---- */

static void batches(void **state)
{
    static const struct forwarded_chunk chunks[] = {
        {.kind = 64, .session = 0, .thread = 0, .data = (const uint8_t *)"hello", .size = 5},
        {.kind = 73, .session = 300, .thread = 70000, .data = (const uint8_t *)"", .size = 0},
        {.kind = 10,
         .session = UINT32_MAX,
         .thread = 1,
         .data = (const uint8_t *)"xyz",
         .size = 3}};
    struct encoder raw = {0}, message = {0};
    struct forwarded_chunk chunk;
    (void)state;
    for (size_t i = 0; i < 3; i++)
        encode_forwarded_chunk(&raw, &chunks[i]);
    assert_true(forwarded_chunk_is_valid(raw.data, raw.size, 3));
    assert_false(forwarded_chunk_is_valid(raw.data, raw.size, 2));
    assert_false(forwarded_chunk_is_valid(raw.data, raw.size - 1, 3));
    struct decoder in = decoder_init(raw.data, raw.size);
    for (size_t i = 0; i < 3; i++) {
        assert_true(decode_forwarded_chunk(&in, &chunk));
        assert_int_equal(chunk.kind, chunks[i].kind);
        assert_int_equal(chunk.session, chunks[i].session);
        assert_int_equal(chunk.thread, chunks[i].thread);
        assert_int_equal(chunk.size, chunks[i].size);
        assert_memory_equal(chunk.data, chunks[i].data, chunk.size);
    }
    assert_false(decode_forwarded_chunk(&in, &chunk));
    assert_true(decoder_finish(&in));

    uint8_t packed[256], back[256];
    size_t size = compression_compress(packed, sizeof packed, raw.data, raw.size);
    assert_true(size > 0 && size <= compression_bound(raw.size));
    struct forwarded_batch batch = {.stream = 2, .first = 9, .count = 3, .raw = (uint32_t)raw.size},
                           got;
    encode_forwarded_batch(&message, &batch);
    encode_bytes(&message, packed, size);
    in = decoder_init(message.data, message.size);
    assert_true(decode_forwarded_batch(&in, &got));
    assert_int_equal(got.stream, 2);
    assert_int_equal(got.first, 9);
    assert_int_equal(got.count, 3);
    assert_true(compression_decompress(back, got.raw, got.packed, got.packed_bytes));
    assert_memory_equal(back, raw.data, raw.size);
    assert_false(compression_decompress(back, got.raw - 1, got.packed, got.packed_bytes));
    assert_false(compression_decompress(back, got.raw + 1, got.packed, got.packed_bytes));
    assert_false(compression_decompress(back, got.raw, got.packed, got.packed_bytes - 1));
    for (size_t i = 0; i < 20; i++) { /* every shorter message is rejected */
        in = decoder_init(message.data, i);
        assert_false(decode_forwarded_batch(&in, &got));
    }
    batch.raw = FORWARD_RAW_MOST + 1;
    message.size = 0;
    encode_forwarded_batch(&message, &batch);
    in = decoder_init(message.data, message.size);
    assert_false(decode_forwarded_batch(&in, &got));
    assert_string_equal(in.error, "invalid batch");
    compression_release();
    encoder_free(&raw);
    encoder_free(&message);
}

static void first_words(void **state)
{
    struct encoder out = {0};
    struct forwarded_agent agent;
    struct forwarded_stream stream;
    uint8_t id[FORWARD_ID_BYTES] = {1, 2, 3};
    (void)state;
    encode_forwarded_agent(&out, "laptop");
    struct decoder in = decoder_init(out.data, out.size);
    assert_true(decode_forwarded_agent(&in, &agent));
    assert_string_equal(agent.host, "laptop");
    free(agent.host);
    out.data[4]++;
    in = decoder_init(out.data, out.size);
    assert_false(decode_forwarded_agent(&in, &agent));
    assert_non_null(strstr(in.error, "different version"));
    free(agent.host);
    chunk_set_u32(out.data, HELLO_FORMER_MAGIC);
    in = decoder_init(out.data, out.size);
    assert_false(decode_forwarded_agent(&in, &agent));
    assert_string_equal(in.error, "agent of an older version of Poet");
    free(agent.host);
    out.size = 0;
    encode_forwarded_stream(&out, 5, id, "run");
    in = decoder_init(out.data, out.size);
    assert_true(decode_forwarded_stream(&in, &stream));
    assert_int_equal(stream.stream, 5);
    assert_memory_equal(stream.id, id, sizeof id);
    assert_string_equal(stream.run, "run");
    free(stream.run);
    encoder_free(&out);
}

/* ---- following a journal ---- */

static void write_some(struct tracefile *trace, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        uint8_t data[500];
        memset(data, (int)i & 0xff, sizeof data);
        tracefile_append(
            trace,
            (struct chunk){.kind = 64, .session = i, .data = data, .size = 1 + i * 7919 % 499});
        assert_true(tracefile_flush(trace));
    }
}

static void read_some(struct journal_follower *following, unsigned from, unsigned to)
{
    struct chunk chunk;
    for (unsigned i = from; i < to; i++) {
        assert_true(journal_follower_next(following, &chunk));
        assert_int_equal(chunk.session, i);
        assert_int_equal(chunk.size, 1 + i * 7919 % 499);
        assert_int_equal(chunk.data[chunk.size - 1], i & 0xff);
    }
    assert_int_equal(journal_follower_position(following).chunk, to);
}

static void follows(void **state)
{
    char path[] = "/tmp/poet-follow-XXXXXX", *used;
    const char *why;
    struct chunk chunk;
    (void)state;
    close(mkstemp(path));
    assert_null(journal_follower_new(path, &why));
    assert_string_equal(why, "not a Poet trace file");
    unlink(path);
    struct tracefile *trace = tracefile_create(path, "run", &used);
    tracefile_lagging(trace);
    struct journal_follower *following = journal_follower_new(path, &why);
    assert_non_null(following);
    assert_false(journal_follower_lock(following)); /* it is being written */
    assert_false(journal_follower_next(following, &chunk));
    write_some(trace, 0, 100);
    read_some(following, 0, 100);
    assert_false(journal_follower_next(following, &chunk));
    assert_false(journal_follower_next(following, &chunk));
    struct journal_position early = journal_follower_position(following);
    write_some(trace, 100, 1000);
    tracefile_put(trace, CHUNK_PART, "part", 4); /* the journal continues in another region */
    write_some(trace, 1000, 3000);
    read_some(following, 100, 3000);
    assert_true(journal_follower_position(following).epoch > 1);
    journal_follower_seek(following, early);
    read_some(following, 100, 3000);
    assert_false(journal_follower_is_truncated(following));
    /* half a chunk is not read; a complete one may be written there */
    struct journal_position end = journal_follower_position(following);
    int fd = open(path, O_RDWR);
    uint8_t head[CHUNK_HEAD_BYTES];
    chunk_head(head,
               &(struct chunk){
                   .kind = 64, .epoch = end.epoch, .data = (const uint8_t *)"abcd", .size = 4});
    assert_int_equal(pwrite(fd, head, sizeof head, (off_t)end.at), sizeof head);
    close(fd);
    assert_false(journal_follower_next(following, &chunk));
    assert_true(journal_follower_is_truncated(following));
    write_some(trace, 3000, 3010);
    read_some(following, 3000, 3010);
    tracefile_close(trace);
    assert_true(journal_follower_lock(following));
    assert_true(journal_follower_append(following, (struct chunk){.kind = CHUNK_FORWARDED}));
    assert_true(journal_follower_next(following, &chunk));
    assert_int_equal(chunk.kind, CHUNK_FORWARDED);
    journal_follower_free(following);
    unlink(used);
    free(used);
}

/* ---- clocks ---- */

/* Whatever the latencies are, the true offset lies between the bounds, which become narrow. */
static void offsets(void **state)
{
    (void)state;
    static const int64_t ahead[] = {0, 5000000000, -3000000000};
    for (size_t k = 0; k < 3; k++) {
        struct clock_offset offset = {0};
        uint32_t random = 1;
        int64_t narrowest = INT64_MAX, low, high;
        for (uint64_t now = 10000000000, i = 0; i < 1000; i++, now += 1000000) {
            uint64_t ways[3];
            for (size_t w = 0; w < 3; w++)
                ways[w] = 1000 + ((random = random * 1664525u + 1013904223u) >> 12);
            uint64_t t1 = now + ways[0] + (uint64_t)ahead[k],
                     t3 = now + ways[0] + ways[1] + ways[2];
            clock_offset_add(&offset, now, t1, t1 + ways[1], t3);
            clock_offset_at(&offset, t3, &low, &high);
            assert_true(low <= ahead[k] && ahead[k] <= high);
            int64_t width = (int64_t)(ways[0] + ways[2]);
            narrowest = width < narrowest ? width : narrowest;
            assert_true(high - low <=
                        narrowest + 1000 * 2 * CLOCK_OFFSET_DRIFT_PPM + 2 * CLOCK_OFFSET_DRIFT_PPM);
        }
        struct clock_offset before = offset;
        assert_false(clock_offset_add(&offset, 100, 50, 40, 200)); /* sent before it was received */
        assert_false(
            /* at the other end for longer than the round trip */
            clock_offset_add(&offset, 100, 50, 160, 200));
        assert_false(clock_offset_add(&offset, 200, 50, 60, 100));
        assert_false(clock_offset_add(&offset, 1, UINT64_MAX, UINT64_MAX, 2));
        assert_memory_equal(&before, &offset, sizeof offset);
        int64_t later_low, later_high;
        clock_offset_at(&offset, offset.at_ns + 1000000000, &later_low, &later_high);
        assert_int_equal(later_high - later_low - (offset.high_ns - offset.low_ns),
                         2 * (1001 * CLOCK_OFFSET_DRIFT_PPM));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),        cmocka_unit_test(tls_carries),
        cmocka_unit_test(tls_refuses), cmocka_unit_test(tls_replayed),
        cmocka_unit_test(batches),     cmocka_unit_test(first_words),
        cmocka_unit_test(follows),     cmocka_unit_test(offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

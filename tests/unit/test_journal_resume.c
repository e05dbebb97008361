/* Resuming a trace file of a killed server: the journal beyond the newest checkpoint,
 * partially written chunks, and the positions of agents' streams. */
#define _GNU_SOURCE
#include "server/tracefile/agent_positions.h"
#include "server/tracefile/tracefile.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- positions of streams ---- */

static struct agent_position_mark mark_of(uint64_t next, uint32_t from, uint32_t *sessions,
                                          uint32_t count)
{
    static char run[] = "run";
    return (struct agent_position_mark){.id = "0123456789abcde",
                                        .next = next,
                                        .bytes = 77,
                                        .message = {next + 1, -5},
                                        .run = run,
                                        .from = from,
                                        .sessions = sessions,
                                        .count = count};
}

static void marks(void **state)
{
    (void)state;
    uint32_t sessions[] = {4, 5, 9};
    struct encoder out = {0};
    struct agent_position_mark mark = mark_of(10, 2, sessions, 3), got;
    mark.ended = true;
    agent_position_encode(&out, &mark);
    for (size_t size = 0; size <= out.size; size++) {
        struct decoder in = decoder_init(out.data, size);
        assert_int_equal(agent_position_decode(&in, &got), size == out.size);
        if (size == out.size) {
            assert_memory_equal(got.id, mark.id, sizeof mark.id);
            assert_true(got.next == 10 && got.bytes == 77 && got.ended);
            assert_true(got.message.next == 11 && got.message.stream_ns == -5);
            assert_string_equal(got.run, "run");
            assert_true(got.from == 2 && got.count == 3);
            assert_memory_equal(got.sessions, sessions, sizeof sessions);
        }
        agent_position_mark_free(&got);
    }
    encoder_free(&out);
}

static bool take(struct agent_positions *list, const struct agent_position_mark *mark)
{
    struct encoder out = {0};
    agent_position_encode(&out, mark);
    bool good = agent_position_apply(list, out.data, out.size);
    encoder_free(&out);
    return good;
}

static void take_saved(void *context, const struct encoder *body)
{
    assert_true(agent_position_apply(context, body->data, body->size));
}

static void lists(void **state)
{
    (void)state;
    struct agent_positions list = {0}, again = {0};
    uint32_t first[] = {0, 3}, second[] = {7};
    struct agent_position_mark a = mark_of(5, 0, first, 2), b = mark_of(9, 2, second, 1),
                               early = mark_of(8, 0, NULL, 0), far = mark_of(12, 9, second, 1);
    assert_true(take(&list, &a));
    assert_true(take(&list, &b));
    assert_false(take(&list, &early)); /* a position never decreases */
    assert_false(take(&list, &far)); /* sessions in between are missing */
    agent_position_note_hangup(&list, 3);
    assert_int_equal(list.count, 1);
    agent_positions_save(&list, take_saved, &again);
    struct agent_positions copy = agent_positions_copy(&again);
    const struct agent_position *r = &copy.items[0];
    assert_true(r->next == 9 && r->count == 3 && r->message.next == 10);
    assert_true(r->sessions[0] == 0 && r->sessions[1] == AGENT_POSITION_NONE &&
                r->sessions[2] == 7);
    assert_string_equal(r->run, "run");
    size_t count = again.count;
    agent_positions_free(&again);
    agent_positions_save(&list, take_saved, &again); /* nothing has changed since */
    assert_true(count == 1 && again.count == 0);
    agent_positions_free(&list);
    agent_positions_free(&copy);
}

/* ---- a trace file ---- */

#define DATA_BYTES 300u

struct writer {
    struct tracefile *file;
    char path[64], *used;
    /* numbers of chunks: written, delivered, covered by the newest checkpoint */
    uint32_t next, told, knows;
    struct batch {
        uint32_t first, end, epoch;
        uint64_t at;
    } batches[4000];
    unsigned count;
    unsigned random;
    bool saved;
};

static unsigned one_of(struct writer *w, unsigned n)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (w->random >> 8) % n;
}

static size_t put_chunk(uint8_t *at, struct chunk chunk, uint32_t epoch)
{
    chunk.epoch = epoch;
    chunk_head(at, &chunk);
    memcpy(at + CHUNK_HEAD_BYTES, chunk.data, chunk.size);
    return CHUNK_HEAD_BYTES + chunk.size;
}

/* Encodes a position and the chunks of a batch; returns their size. */
static size_t batch_bytes(const struct writer *w, uint8_t *bytes, unsigned count, uint32_t epoch)
{
    static uint8_t data[DATA_BYTES];
    struct encoder body = {0};
    struct agent_position_mark mark = mark_of(w->next + count, 0, NULL, 0);
    mark.bytes = (uint64_t)count * (CHUNK_HEAD_BYTES + DATA_BYTES);
    agent_position_encode(&body, &mark);
    size_t size = put_chunk(
        bytes,
        (struct chunk){.kind = CHUNK_REACHED, .data = body.data, .size = (uint32_t)body.size},
        epoch);
    encoder_free(&body);
    for (unsigned i = 0; i < count; i++) {
        /* differs from the previous content of the file */
        memset(data, (int)((w->next + i) % 251 + 1), sizeof data);
        size += put_chunk(
            bytes + size,
            (struct chunk){
                .kind = CHUNK_HANGUP, .session = w->next + i, .data = data, .size = sizeof data},
            epoch);
    }
    return size;
}

/* Writes the first bytes of a batch of `count` chunks; all of them if most is UINT64_MAX. */
static void write_batch(struct writer *w, unsigned count, uint64_t most)
{
    static uint8_t bytes[16384];
    struct journal_room room;
    size_t size = batch_bytes(w, bytes, count, 0);
    assert_true(tracefile_begin(w->file, size, false, &room));
    batch_bytes(w, bytes, count, room.epoch);
    if (most < size) {
        int fd = open(w->used, O_WRONLY);
        assert_int_equal(pwrite(fd, bytes, most, (off_t)room.at), most);
        close(fd);
        return;
    }
    assert_true(tracefile_write(w->file, bytes, size, false));
    w->batches[w->count++] = (struct batch){w->next, w->next + count, room.epoch, room.at + size};
    w->next += count;
}

static void tell(struct writer *w)
{
    unsigned upto = one_of(w, w->count + 1);
    for (unsigned i = 0; i < upto; i++) {
        const struct batch *b = &w->batches[i];
        if (b->first != w->told)
            continue;
        tracefile_delivered(w->file, b->epoch, b->at, 1000);
        w->told = b->end;
    }
}

static void save(struct writer *w)
{
    uint32_t knows = w->told;
    uint64_t part = tracefile_put(w->file, CHUNK_PART, "part", 4);
    uint8_t news[12] = {0};
    tracefile_put(w->file, CHUNK_NEWS, news, sizeof news);
    assert_true(tracefile_save_begin(w->file, (struct chunk){.kind = CHUNK_THREADS}, UINT32_MAX));
    assert_true(tracefile_save_end(w->file, &(struct checkpoint){.data = (const uint8_t *)&knows,
                                                                 .size = sizeof knows,
                                                                 .parts = &part,
                                                                 .part_count = 1}));
    w->knows = knows;
    w->saved = true;
}

struct seen {
    const struct writer *writer;
    uint32_t next, marks;
    bool state;
};

static void see(void *context, uint64_t at, struct chunk chunk)
{
    struct seen *seen = context;
    assert_true(at >= TRACEFILE_HEAD_BYTES);
    if (chunk.kind == CHUNK_REACHED)
        seen->marks++;
    else
        assert_int_equal(chunk.session, seen->next++);
}

static void see_all(void *context, struct chunk chunk)
{
    struct seen *seen = context;
    uint32_t knows;
    if (chunk.kind == CHUNK_STATE) {
        memcpy(&knows, chunk.data, sizeof knows);
        assert_int_equal(knows, seen->writer->knows);
        seen->next = knows;
        seen->state = true;
    } else if (chunk.kind == CHUNK_HANGUP) {
        assert_int_equal(chunk.session, seen->next++);
    }
}

static void see_known(void *context, struct chunk chunk)
{
    struct seen *seen = context;
    /* the journal from the checkpoint on was read before */
    assert_int_not_equal(chunk.kind, CHUNK_HANGUP);
    seen->state |= chunk.kind == CHUNK_STATE;
}

/* Checks what a reader of the file sees. */
static void assert_reads(const struct writer *w)
{
    const char *why;
    char *damage;
    struct seen seen = {.writer = w};
    struct tracefile *file = tracefile_open(w->used, &why);
    assert_non_null(file);
    tracefile_replay(file, see_all, &seen, &damage);
    assert_null(damage);
    assert_int_equal(seen.state, w->saved);
    assert_int_equal(seen.next, w->next);
    tracefile_close(file);
}

static void resume(struct writer *w)
{
    const char *why = NULL;
    char *damage;
    struct seen seen = {.writer = w, .next = w->knows}, known = {0};
    w->file = tracefile_resume(w->used, see, &seen, &why);
    assert_null(why);
    assert_non_null(w->file);
    tracefile_lagging(w->file);
    assert_int_equal(seen.next, w->next);
    /* two servers must not use one file */
    assert_null(tracefile_resume(w->used, see, &seen, &why));
    assert_string_equal(why, "in use by another server");
    tracefile_replay_known(w->file, see_known, &known, &damage);
    assert_null(damage);
    assert_int_equal(known.state, w->saved);
    w->told = w->knows;
}

static void goes_on(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 40; seed++) {
        struct writer *w = calloc(1, sizeof *w);
        w->random = seed;
        snprintf(w->path, sizeof w->path, "/tmp/poet-resuming.%d", (int)getpid());
        w->file = tracefile_create(w->path, "test@1", &w->used);
        tracefile_lagging(w->file);
        for (unsigned life = 0; life < 8; life++) {
            for (unsigned i = one_of(w, 30); i; i--) {
                write_batch(w, 1 + one_of(w, 20), UINT64_MAX);
                if (one_of(w, 3) == 0)
                    tell(w);
                if (one_of(w, 10) == 0)
                    save(w);
            }
            assert_reads(w);
            write_batch(w, 1 + one_of(w, 20),
                        one_of(w, 3) ? one_of(w, 3000) % 332 * 3 : 0); /* a torn write */
            tracefile_close(w->file);
            resume(w);
            assert_reads(w);
        }
        tracefile_close(w->file);
        unlink(w->used);
        free(w->used);
        free(w);
    }
}

/* If a part that the checkpoint refers to is damaged, the file is left unchanged. */
static void damaged(void **state)
{
    (void)state;
    struct writer *w = calloc(1, sizeof *w);
    const char *why = NULL;
    struct seen seen = {.writer = w};
    struct stat before, after;
    snprintf(w->path, sizeof w->path, "/tmp/poet-resuming.%d", (int)getpid());
    w->file = tracefile_create(w->path, "test@1", &w->used);
    tracefile_lagging(w->file);
    for (unsigned i = 0; i < 30; i++)
        write_batch(w, 10, UINT64_MAX);
    tell(w);
    save(w);
    tracefile_close(w->file);
    int fd = open(w->used, O_RDWR);
    uint8_t byte;
    assert_int_equal(pread(fd, &byte, 1, 60), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, 60), 1);
    fstat(fd, &before);
    assert_null(tracefile_resume(w->used, see, &seen, &why));
    assert_string_equal(why, "it is damaged");
    fstat(fd, &after);
    assert_int_equal(before.st_size, after.st_size);
    close(fd);
    unlink(w->used);
    assert_null(tracefile_resume(w->used, see, &seen, &why));
    assert_string_equal(why, strerror(ENOENT));
    free(w->used);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks),
        cmocka_unit_test(lists),
        cmocka_unit_test(goes_on),
        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Checkpoints of a trace file with a journal ahead of delivery: what they cover, and which part
 * of the journal they need. */
#define _GNU_SOURCE
#include "server/tracefile/tracefile.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHUNKS_MOST 4000u
#define DATA_BYTES 500u

/* A journal of numbered chunks, of which some were delivered. */
struct journal {
    struct tracefile *file;
    char path[64], *used;
    struct place {
        uint32_t epoch;
        uint64_t end;
    } places[CHUNKS_MOST];
    uint32_t written, told;
    /* by chunk: epoch in which it was delivered */
    uint32_t numbers[CHUNKS_MOST];
    /* the newest checkpoint */
    /* chunks that it covers, its epoch, first chunk to be read; number of checkpoints */
    uint32_t knows, number, from, saves;
    uint32_t begun; /* `from` of the checkpoint that has begun */
};

static void begin(struct journal *j)
{
    *j = (struct journal){0};
    snprintf(j->path, sizeof j->path, "/tmp/poet-states.%d", (int)getpid());
    unlink(j->path);
    j->file = tracefile_create(j->path, "test@1", &j->used);
    assert_non_null(j->file);
    tracefile_lagging(j->file);
}

static void end(struct journal *j)
{
    tracefile_close(j->file);
    unlink(j->path);
    free(j->used);
}

static bool write_one(struct journal *j)
{
    uint8_t bytes[CHUNK_HEAD_BYTES + DATA_BYTES], data[DATA_BYTES] = {0};
    struct journal_room room;
    if (!tracefile_begin(j->file, sizeof bytes, false, &room))
        return false;
    chunk_head(bytes, &(struct chunk){.kind = CHUNK_HANGUP,
                                      .session = j->written,
                                      .epoch = room.epoch,
                                      .data = data,
                                      .size = sizeof data});
    memcpy(bytes + CHUNK_HEAD_BYTES, data, sizeof data);
    if (!tracefile_write(j->file, bytes, sizeof bytes, false))
        return false;
    j->places[j->written++] = (struct place){room.epoch, room.at + sizeof bytes};
    return true;
}

static void write_some(struct journal *j, unsigned count)
{
    while (count--)
        assert_true(write_one(j));
}

static void tell(struct journal *j, unsigned count)
{
    for (; count && j->told < j->written; count--, j->told++) {
        tracefile_delivered(j->file, j->places[j->told].epoch, j->places[j->told].end,
                            CHUNK_HEAD_BYTES + DATA_BYTES);
        j->numbers[j->told] = tracefile_epoch(j->file);
    }
}

static uint32_t save_begin(struct journal *j, uint32_t oldest)
{
    uint32_t knows = j->told;
    assert_true(tracefile_save_begin(j->file,
                                     (struct chunk){.kind = CHUNK_THREADS,
                                                    .data = (const uint8_t *)&knows,
                                                    .size = sizeof knows},
                                     oldest));
    j->begun = j->told;
    while (j->begun && j->numbers[j->begun - 1] >= oldest)
        j->begun--;
    return knows;
}

static void save_end(struct journal *j, uint32_t knows, uint64_t part)
{
    assert_true(tracefile_save_end(j->file, &(struct checkpoint){.data = (const uint8_t *)&knows,
                                                                 .size = sizeof knows,
                                                                 .parts = &part,
                                                                 .part_count = 1}));
    j->knows = knows;
    j->from = j->begun;
    j->number = tracefile_epoch(j->file);
    j->saves++;
}

/* ---- reading ---- */

struct reader {
    const struct journal *journal;
    uint32_t next;
    bool state, threads;
};

static void visit(void *context, struct chunk chunk)
{
    struct reader *r = context;
    const struct journal *j = r->journal;
    if (chunk.kind == CHUNK_STATE) {
        uint32_t knows;
        assert_int_equal(chunk.size, sizeof knows);
        memcpy(&knows, chunk.data, sizeof knows);
        assert_int_equal(knows, j->knows);
        assert_int_equal(chunk.epoch, j->number);
        r->state = true;
    } else if (chunk.kind == CHUNK_THREADS) {
        memcpy(&r->next, chunk.data, sizeof r->next);
        assert_true(r->next <= j->from); /* reading may begin earlier than necessary */
        r->threads = true;
    } else {
        assert_int_equal(chunk.session, r->next);
        r->next++;
        if (j->saves)
            assert_int_equal(chunk.epoch, chunk.session < j->knows ? j->number - 1 : j->number);
    }
}

/* Checks what a reader sees after kill -9. */
static void assert_reads_on(const struct journal *j)
{
    struct reader r = {.journal = j};
    const char *why;
    char *damage;
    struct tracefile *file = tracefile_open(j->path, &why);
    assert_non_null(file);
    tracefile_replay(file, visit, &r, &damage);
    assert_null(damage);
    assert_int_equal(r.state, j->saves > 0);
    assert_int_equal(r.next, j->written);
    tracefile_close(file);
}

/* ---- cases ---- */

static void a_state_is_of_what_was_told_when_it_began(void **state)
{
    (void)state;
    struct journal j;
    begin(&j);
    write_some(&j, 60);
    tell(&j, 20);
    assert_reads_on(&j);
    uint32_t knows = save_begin(&j, UINT32_MAX);
    tell(&j, 10); /* more is delivered and written before the checkpoint ends */
    write_some(&j, 40);
    uint64_t part = tracefile_put(j.file, CHUNK_PART, "part", 4);
    assert_reads_on(&j);
    tell(&j, 5);
    save_end(&j, knows, part);
    assert_int_equal(j.knows, 20);
    assert_reads_on(&j);
    knows = save_begin(&j, 2); /* a chunk delivered since is still pending */
    save_end(&j, knows, part);
    assert_int_equal(j.from, 20);
    assert_reads_on(&j);
    end(&j);
}

static void one_that_is_given_up_changes_nothing(void **state)
{
    (void)state;
    struct journal j;
    begin(&j);
    write_some(&j, 30);
    tell(&j, 10);
    uint64_t part = tracefile_put(j.file, CHUNK_PART, "part", 4),
             unsaved = tracefile_unsaved(j.file);
    save_begin(&j, UINT32_MAX);
    assert_int_equal(tracefile_unsaved(j.file), 0);
    tell(&j, 10);
    tracefile_save_drop(j.file);
    assert_int_equal(tracefile_unsaved(j.file), 2 * unsaved);
    assert_reads_on(&j);
    uint32_t knows = save_begin(&j, UINT32_MAX);
    save_end(&j, knows, part);
    assert_reads_on(&j);
    end(&j);
}

/* Regions of the file are reused, but never one with a chunk that is not delivered, or that a
 * checkpoint needs. */
static void nothing_is_freed_that_was_not_told(void **state)
{
    (void)state;
    struct journal j;
    begin(&j);
    uint32_t oldest = 1; /* number of the oldest pending chunk */
    srand(5);
    while (j.written < CHUNKS_MOST - 100) {
        write_some(&j, (unsigned)rand() % 40);
        tell(&j, (unsigned)rand() % 45);
        uint32_t newest = tracefile_epoch(j.file),
                 waits = rand() % 3 ? newest + 1 : oldest + (newest - oldest) / 2;
        uint32_t knows = save_begin(&j, waits);
        write_some(&j, (unsigned)rand() % 20);
        tell(&j, (unsigned)rand() % 20);
        uint64_t part = tracefile_put(j.file, CHUNK_PART, "a part", 6);
        oldest = waits;
        if (rand() % 8 == 0) {
            tracefile_save_drop(j.file);
            continue;
        }
        save_end(&j, knows, part);
        tracefile_discard_before(j.file, part);
        if (rand() % 4 == 0)
            assert_reads_on(&j);
    }
    assert_reads_on(&j);
    /* regions were reused */
    assert_true(tracefile_kept(j.file) < (uint64_t)j.written * DATA_BYTES / 2);
    end(&j);
}

static void parts_without_room_hold_the_journal_up(void **state)
{
    (void)state;
    struct journal j;
    struct rlimit before, limit;
    static uint8_t large[2u << 20];
    begin(&j);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    write_some(&j, 10);
    limit.rlim_cur = (rlim_t)tracefile_end(j.file) + (1u << 20);
    setrlimit(RLIMIT_FSIZE, &limit);
    uint64_t part = tracefile_put(j.file, CHUNK_PART, large, sizeof large);
    assert_false(write_one(&j));
    assert_false(tracefile_sync(j.file));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(write_one(&j)); /* it is not known yet that there is space again */
    assert_true(tracefile_sync(j.file));
    write_some(&j, 10);
    tell(&j, 15);
    save_end(&j, save_begin(&j, UINT32_MAX), part);
    assert_reads_on(&j);
    end(&j);
}

/* If a part does not fit, it waits while the journal continues in a region after it; later parts
 * come after that. */
static void parts_without_room_leave_the_journal_alone(void **state)
{
    (void)state;
    struct journal j;
    struct rlimit before, limit;
    static uint8_t large[2u << 20];
    struct journal_room room;
    begin(&j);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    write_some(&j, 10);
    uint64_t first = tracefile_put(j.file, CHUNK_PART, "first", 5);
    while (tracefile_begin(j.file, 600, true, &room) && room.epoch == 1)
        write_some(&j, 1);
    write_some(&j, 10); /* after the first part */
    limit.rlim_cur = (rlim_t)first; /* nothing fits any more */
    setrlimit(RLIMIT_FSIZE, &limit);
    uint64_t part = tracefile_put(j.file, CHUNK_PART, large, sizeof large);
    assert_false(tracefile_sync(j.file));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_true(tracefile_sync(j.file));
    assert_reads_on(&j);
    tell(&j, j.written);
    save_end(&j, save_begin(&j, UINT32_MAX), part);
    write_some(&j, 10);
    assert_reads_on(&j);
    end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_of_what_was_told_when_it_began),
        cmocka_unit_test(one_that_is_given_up_changes_nothing),
        cmocka_unit_test(nothing_is_freed_that_was_not_told),
        cmocka_unit_test(parts_without_room_hold_the_journal_up),
        cmocka_unit_test(parts_without_room_leave_the_journal_alone),
    };
    return cmocka_run_group_tests_name("states", tests, NULL, NULL);
}

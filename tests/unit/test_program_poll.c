/* One round of the capture thread: how much is copied from which queue. */
#define _GNU_SOURCE
#include "server/journal/program_poll.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS_MOST 65536u

/* Adds the queue of a thread with `count` events, a nanosecond apart, from a time on. */
static struct shared_queue *add(struct captured_program *program, uint32_t thread, uint32_t room,
                                uint32_t count, uint64_t begin_ns)
{
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)room * SLOT_BYTES;
    int fd = memfd_create("queue", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    struct queue_head *head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(head != MAP_FAILED);
    *head = (struct queue_head){.magic = QUEUE_MAGIC, .slots = room, .thread = thread};
    struct ring_slot *slots = (struct ring_slot *)(void *)((char *)head + QUEUE_HEAD_BYTES);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = (struct ring_slot){
            .shape = 1, .time_ns = begin_ns + i, .line_a = thread, .number_a = i + 1};
    atomic_store(&head->head, count);
    assert_null(shared_queue_add(&program->queues, fd, room));
    program->queue_count++;
    munmap(head, bytes);
    close(fd);
    return program->queues;
}

static struct captured_program begin(char path[64], char **used)
{
    snprintf(path, 64, "/tmp/poet-round.%d", (int)getpid());
    unlink(path);
    struct tracefile *file = tracefile_create(path, "test@1", used);
    assert_non_null(file);
    return (struct captured_program){.taking = capture_new(file, path, 0)};
}

static void end(struct captured_program *program, const char *path, char *used)
{
    while (program->queues) {
        struct shared_queue *queue = program->queues;
        program->queues = queue->next;
        shared_queue_free(queue);
    }
    struct tracefile *file = program->taking->trace;
    capture_free(program->taking);
    tracefile_close(file);
    unlink(path);
    free(used);
}

static void ended_threads_do_not_slow_a_busy_one(void **state)
{
    (void)state;
    char path[64], *used;
    struct captured_program program = begin(path, &used);
    struct poll_buffers *buffers = calloc(1, sizeof *buffers);
    poll_buffers_begin(buffers);
    for (uint32_t i = 0; i < 600; i++)
        add(&program, 2 + i, 16, 3, 1000000 + i);
    struct shared_queue *busy = add(&program, 1, SLOTS_MOST, SLOTS_MOST, 1);
    assert_int_equal(program_poll(&program, buffers), POLL_MORE);
    assert_true(busy->tail >= SLOTS_MOST / 8);
    poll_buffers_end(buffers);
    free(buffers);
    end(&program, path, used);
}

/* Copying stops at one time for all queues, so that what a thread did in a monitor is not
 * delivered before what another thread did there earlier. */
static void busy_threads_are_taken_as_far_as_one_moment(void **state)
{
    (void)state;
    char path[64], *used;
    struct captured_program program = begin(path, &used);
    struct poll_buffers *buffers = calloc(1, sizeof *buffers);
    poll_buffers_begin(buffers);
    struct shared_queue *late = add(&program, 1, SLOTS_MOST, SLOTS_MOST, 500000);
    struct shared_queue *early = add(&program, 2, SLOTS_MOST, SLOTS_MOST, 1);
    assert_int_equal(program_poll(&program, buffers), POLL_MORE);
    assert_true(early->tail > 0);
    assert_int_equal(late->tail, 0);
    while (program_poll(&program, buffers) == POLL_MORE)
        ;
    assert_int_equal(early->tail, SLOTS_MOST);
    assert_int_equal(late->tail, SLOTS_MOST);
    poll_buffers_end(buffers);
    free(buffers);
    end(&program, path, used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_threads_do_not_slow_a_busy_one),
        cmocka_unit_test(busy_threads_are_taken_as_far_as_one_moment),
    };
    return cmocka_run_group_tests_name("round", tests, NULL, NULL);
}

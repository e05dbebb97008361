/* Being traced: finding a server and saying who we are, at the start, after a fork, and again when
 * a server comes that had gone.  Then the end. */
#define _GNU_SOURCE
#include "clients/trace/core/attach.h"

#include "clients/trace/calls/input.h"
#include "clients/trace/calls/child.h"
#include "clients/trace/calls/threads.h"
#include "clients/trace/core/allowed.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/descriptor.h"
#include "clients/trace/core/environ.h"
#include "clients/trace/core/forbid.h"
#include "clients/trace/core/forked.h"
#include "clients/trace/core/imports.h"
#include "clients/trace/core/launch.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/losses.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/preload.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/runtime.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/report.h"
#include "clients/trace/core/sender.h"
#include "clients/trace/core/shared.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/text.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "clients/trace/core/variables.h"
#include "clients/trace/measure/chosen.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/measure/meters.h"
#include "clients/trace/measure/picked.h"
#include "clients/trace/measure/region.h"
#include "clients/trace/poet.h"
#include "clients/trace/replay/part.h"
#include "wire/endpoint.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/region.h"
#include "wire/told.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* One at a time makes itself known; what that needs is not on a stack, which may be small. */
static char text[16384];
static char file[PATH_MAX];
static uint8_t answer[1024];
static bool by_agent; /* so was it answered */
static struct error error;

/* The arguments of the process, one after the other in `text`; how many bytes they take. */
static size_t read_arguments(uint32_t *count)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    size_t size = n > 0 ? (size_t)n : 0;
    text[size] = 0;
    *count = 0;
    for (size_t i = 0; i < size; i += strlen(text + i) + 1)
        ++*count;
    return size;
}

static char environment[64] = "pthread";
static bool is_child; /* made by fork: it has the variables of its parent */
static char endpoint[400]; /* of this machine */
static char target[400]; /* where an agent forwards to what is recorded; "": no agent is needed */

/* What a library that is linked calls the launch that this process is one of many of; NULL: none. */
#pragma weak poet_launch
static const char *launch_name(void) { return poet_launch ? poet_launch() : NULL; }

static uint64_t random_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = clock_now() ^ ((uint64_t)getpid() << 40);
    return number;
}

/* The run that this process belongs to: inherited, or of its launch, or begun here.  It stays so in a
 * child after fork, whatever became of the environment (setproctitle() writes over it). */
static bool begun_here = true;
static const char *run_name(void)
{
    static char name[256];
    if (*name)
        return name;
    const char *inherited = environment_get("POET_RUN"), *launch = launch_name();
    if (inherited && *inherited) {
        snprintf(name, sizeof name, "%s", inherited);
        begun_here = false;
    } else if (launch) {
        snprintf(name, sizeof name, "%s", launch);
        environment_set("POET_RUN", name);
    } else {
        snprintf(name, sizeof name, "%.200s@%016llx", program_invocation_short_name,
                 (unsigned long long)random_number());
        environment_set("POET_RUN", name);
    }
    return name;
}

static void put_hello(struct out *out)
{
    static char path[PATH_MAX], host[NAME_BYTES + 1];
    struct timespec wall;
    syscall(SYS_clock_gettime, CLOCK_REALTIME,
            &wall); /* (the C library's may read a forbidden counter) */
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    gethostname(host, sizeof host - 1);
    struct told_hello hello = {.role = ROLE_PROGRAM,
                               .run = text_of(run_name()),
                               .environment = text_of(environment),
                               .path = text_within(path, LIMIT_TEXT_BYTES - 1),
                               .host = text_of(clock_host() ? clock_host() : host),
                               .pid = (uint32_t)getpid(),
                               .instance = instance,
                               .clock_ns = clock_now(),
                               .wall_ns =
                                   (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec};
    size_t size = read_arguments(&hello.argument_count);
    out_begin(out, MESSAGE_HELLO);
    put_told_hello(out, &hello);
    for (size_t i = 0; i < size; i += strlen(text + i) + 1)
        put_told_argument(out, text_within(text + i, LIMIT_TEXT_BYTES - 1));
    if (!is_child) /* (other threads may be changing the environment) */
        variables_put(out, environment);
    out_end(out);
}

/* As recv; *descriptor is set where one comes along. */
static ssize_t receive(int fd, void *data, size_t size, int *descriptor)
{
    struct iovec iov = {data, size};
    char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && *descriptor < 0)
        memcpy(descriptor, CMSG_DATA(c), sizeof *descriptor);
    return n;
}

/* Reads the server's WELCOME or ERROR.  Where it is refused: why, in words of the server or ours. */
static bool read_welcome(int fd, unsigned patience_ms, struct error *why, int *counters)
{
    uint8_t *data = answer;
    size_t size = 0, length = 0;
    unsigned type = 0;
    const char *wrong = "no answer";
    for (uint64_t begin = clock_now(); clock_now() - begin < patience_ms * 1000000ull;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, 100);
        ssize_t n = receive(fd, data + size, sizeof answer - size, counters);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            wrong = n ? strerror(errno) : "it hung up";
            break;
        }
        size += n > 0 ? (size_t)n : 0;
        int got = frame_read(data, size, sizeof answer, &type, &length, &wrong);
        if (got < 0)
            break;
        if (got == 0)
            continue;
        struct in in = in_from(data + MESSAGE_FRAME_BYTES, length);
        if (type == MESSAGE_WELCOME) {
            get_u32(&in); /* the version is ours, else it were refused */
            uint32_t flags = in_left(&in) >= 4 ? get_u32(&in) : 0;
            server_follows = flags & WELCOME_FOLLOWS;
            server_regions = flags & WELCOME_REGIONS;
            server_heaps = flags & WELCOME_HEAP;
            server_meters = flags & WELCOME_METERS;
            server_entries = flags & WELCOME_ENTRIES;
            server_spans = flags & WELCOME_SPANS;
            by_agent = flags & WELCOME_AGENT;
            server_far = flags & WELCOME_FAR;
            server_ends = flags & WELCOME_ENDS;
            server_scarce = flags & WELCOME_SCARCE;
            server_awaits = flags & WELCOME_AWAITS;
            uint32_t n_text = in_left(&in) >= 4 ? get_u32(&in) : 0;
            const uint8_t *words = get_bytes(&in, n_text); /* what its user is to know */
            snprintf(why->text, sizeof why->text, "%.*s", (int)(words ? n_text : 0),
                     words ? (const char *)words : "");
            return true;
        }
        uint32_t n_text = get_u32(&in);
        const uint8_t *words = get_bytes(&in, n_text);
        snprintf(why->text, sizeof why->text, "%.*s", (int)(words ? n_text : 0),
                 words ? (const char *)words : "");
        return false;
    }
    snprintf(why->text, sizeof why->text, "%s", wrong);
    return false;
}

/* Begins a new life under a server that was reached: a new instance, all told anew. */
static bool introduce(int fd, unsigned patience_ms, struct error *why)
{
    instance = random_number();
    fd = descriptor_aside(descriptor_away(fd, 3));
    lines_begin();
    struct out out = {0};
    put_hello(&out);
    modules_announce(&out);
    codes_announce(&out);
    unseen_announce(&out);
    const char *complaint = report_announce(&out, *file);
    bool told = server_use(fd, &out);
    out_free(&out);
    int counters = -1;
    bool cut = !told && !atomic_load(&live); /* it hung up already: why, is there to be read */
    bool welcome = (told || cut) && read_welcome(fd, patience_ms, why, &counters) && told;
    shared_begin(counters, instance);
    if (welcome && by_agent)
        complaint = report_by_agent();
    if (complaint && welcome)
        say_once("%s", complaint);
    if (welcome && (!server_sends || sender_begin())) {
        meters_announce();
        return true;
    }
    if (!told && !cut)
        snprintf(why->text, sizeof why->text, "it does not read");
    server_forget();
    return false;
}

/* ---- at the start ---- */

static void choose_environment(void)
{
    const char *chosen = environment_get("POET_ENVIRONMENT");
    if (chosen && *chosen)
        snprintf(environment, sizeof environment, "%s", chosen);
    else if (thread_runtime())
        snprintf(environment, sizeof environment, "%s", thread_runtime());
}

/* A server that runs; -1 with why: it cannot be used, "": there is none, and none is named. */
static int connect_to_server(const char *named)
{
    bool absent = true;
    int fd = endpoint_default(endpoint, sizeof endpoint, &error)
                 ? endpoint_connect(endpoint, 1000, &absent, &error)
                 : -1;
    if (fd < 0 && absent && *endpoint && !(named && *named))
        *error.text = 0;
    return fd;
}

#define TRIES 4 /* to join one that turns out to be about to end; then another is started */

/* A server of our own, or an agent of the target, which the processes of a run have in common. */
static bool launch(void)
{
    const struct launch what = {.name = *target                       ? run_name()
                                        : environment_get("POET_RUN") ? NULL
                                                                      : launch_name(),
                                .to = *target ? target : NULL};
    bool joined = true, introduced = false;
    for (int tries = 0; tries < TRIES && joined && !introduced; tries++) {
        if (tries)
            nanosleep(&(struct timespec){0, 50000000}, NULL);
        int fd = launch_server(&what, &joined, file, sizeof file, endpoint, sizeof endpoint);
        *error.text = 0;
        introduced = fd >= 0 && introduce(fd, 2000, &error);
    }
    launch_done();
    return introduced;
}

static bool begins_with(const char *words, const char *begin)
{
    return strncmp(words, begin, strlen(begin)) == 0;
}

static bool connect_or_launch(const char *named, bool own)
{
    int fd = own || *target ? -1 : connect_to_server(named);
    bool needed = own || *target || (fd < 0 && !*error.text);
    bool introduced = needed ? launch() : fd >= 0 && introduce(fd, 2000, &error);
    const char *who = *target ? target : *file ? "its own server" : fd >= 0 ? endpoint : "";
    if (begins_with(error.text, who) || (*file && begins_with(error.text, file)))
        who = "";
    if (!introduced && *error.text)
        say_once("%s%s%s: the program runs untraced", who, *who ? ": " : "", error.text);
    else if (introduced && *error.text)
        say_once("%s%s%s", who, *who ? ": " : "", error.text);
    return introduced;
}

static void attach(void)
{
    const char *named = environment_get("POET_SERVER");
    const char *output = environment_get("POET_OUTPUT"); /* asks for a server of its own */
    bool own = output && *output;
    if (environment_is_unsafe() || (named && strcmp(named, "none") == 0))
        return;
    choose_environment();
    if (own || !named || !endpoint_elsewhere(named, target, sizeof target))
        *target = 0;
    server_sends = !server_may_share();
    clock_ticks = clock_ticks && !server_sends; /* whose server could not convert them */
    if (!connect_or_launch(named, own) || !*file)
        return;
    environment_set("POET_SERVER", endpoint); /* for those that this program starts */
    environment_unset("POET_OUTPUT");
    say("%stracing into %s (its newest %s); see it with: poet view %s",
        own ? "" : "no server was running: ", file,
        environment_get("POET_KEEP") ? environment_get("POET_KEEP") : "1 GB", file);
}

/* ---- again ---- */

/* A server that answers where the last one was; never one of our own.  Quiet where there is none. */
static bool attach_again(unsigned patience_ms)
{
    bool absent;
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    int fd = *endpoint ? endpoint_connect(endpoint, (int)patience_ms, &absent, &error) : -1;
    bool done = fd >= 0 && introduce(fd, patience_ms, &error);
    pthread_setcancelstate(cancelling, NULL);
    return done;
}

#define AGAIN_NS 1000000000u

static _Atomic uint64_t last;
static _Atomic bool trying;

uint32_t attach_retry(void)
{
    struct timespec ts;
    if (!allowed(ALLOWED_CONNECTING))
        return 0;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    uint64_t now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    uint64_t before = atomic_load_explicit(&last, memory_order_relaxed);
    if (before == 0)
        atomic_compare_exchange_strong(&last, &before, now); /* it has only just gone */
    if (before == 0 || now - before < AGAIN_NS || atomic_exchange(&trying, true))
        return 0;
    int saved = errno;
    if (!atomic_load(&live) && attach_again(server_wait_ms()))
        say("%s: a server is there again: traced from here on", endpoint);
    atomic_store(&last, now);
    atomic_store(&trying, false);
    errno = saved;
    return atomic_load(&live);
}

/* ---- fork ---- */

/* The key of the message from this thread to the child that it is making; 0, 0 none. */
static __thread struct attach_fork {
    uint64_t high, low;
} forked __attribute__((tls_model("initial-exec")));

void attach_forking(uint64_t high, uint64_t low) { forked = (struct attach_fork){high, low}; }

/* The child records under a life of its own, which it begins with its first call that is followed:
 * most children do nothing but execute another program. */
static void begin_child(void)
{
    bool was_traced = thread_base != NULL && live_before_fork();
    is_child = true;
    if (thread_mine && thread_mine->busy)
        server_queue_forked(
            thread_mine); /* forked by a signal handler: what it came between goes on */
    region_forked(thread_mine);
    meters_forked();
    server_forked();
    lost_forked();
    unseen_forked();
    atomic_store(&trying, false);
    objects_forked();
    barriers_forked();
    codes_forked();
    sender_forked();
    modules_forked();
    unseen_forked();
    life_forked(was_traced);
    child_born(forked.high == child_keys() ? forked.low : 0);
}

/* libpoet-process learns of a child by a handler of its own, which ran only if handlers run. */
#pragma weak poet_process_forked
void poet_process_forked(void);

static _Atomic pid_t begun_unseen; /* the child that began without handlers */

void attach_forked(void)
{
    atomic_store(&begun_unseen, getpid());
    begin_child();
    if (poet_process_forked)
        poet_process_forked();
}

/* (a handler of the program's that ran before this one may have begun it) */
static void after_fork(void)
{
    if (atomic_exchange(&begun_unseen, 0) != getpid())
        begin_child();
    fork_release();
}

void attach_none(void)
{
    *endpoint = 0;
    server_left();
    thread_mine = thread_base = NULL;
}

struct thread *attach_child(void)
{
    struct attach_fork key = forked;
    int saved = errno;
    attach_forking(0, 0); /* its own children are others */
    objects_begin_child();
    bool reached = allowed(ALLOWED_CONNECTING) && attach_again(server_wait_ms());
    struct thread *t = reached ? life_begin_child(key.high, key.low) : NULL;
    if (t)
        child_records();
    errno = saved;
    return t;
}

/* ---- the process ---- */

/* quick_exit() runs no destructors.  The handler that was registered first runs last. */
static void stop_quickly(void) { child_ends_at_once(0); }

static void start(void) __attribute__((constructor(200)));
static void start(void)
{
    real_find();
    int saved = errno;
    stranger_shut(true);
    input_find();
    say_begin();
    preload_begin();
    picked_begin();
    modules_begin();
    clock_begin();
    server_begin();
    bool first = !environment_get("POET_RUN");
    attach();
    if (atomic_load(&live)) {
        wanted_begin();
        chosen_announce();
    }
    hooks_begin();
    catch_begin();
    if (atomic_load(&live)) {
        replay_begin();
        input_begin(first);
        life_begin_main();
        chosen_await();
        runtimes_tell();
        runtime_look_at_program(modules_under_record() && begun_here);
        imports_tell();
        input_streams();
    }
    stranger_shut(false);
    say_begun();
    at_quick_exit(stop_quickly);
    fork_prepared(pthread_atfork(fork_prepare, fork_release, after_fork) == 0);
    errno = saved;
}

static void say_what_was_recorded(bool any, bool libraries)
{
    if (wanted_first() & WANTED_CALLS) /* no events, but calls */
        return;
    if (!any && !modules_under_record())
        say("no event was recorded: no file compiled with -trace makes a call that is followed%s; compile "
            "each with: poetcc -trace",
            libraries ? ", though libraries start threads" : "");
    else if (!any && libraries)
        say("no call of the program itself was recorded, but its libraries start threads: see them "
            "with: poet record --libraries");
}

void attach_say_lost(uint64_t lost)
{
    static _Atomic uint32_t said_in;
    uint32_t life = atomic_load(&live);
    if (lost && atomic_exchange(&said_in, life) != life)
        say("%llu events or more were lost: there is no room for them where the trace is written; "
            "how many: poet stat %s",
            (unsigned long long)lost, *file ? file : *target ? "latest" : endpoint);
}

#define WHOLE_MS 10000

static void stop(void) __attribute__((destructor(200)));
static void stop(void)
{
    if (forbid_quiet())
        return;
    launch_end();
    if (!atomic_load(&live))
        return;
    struct thread *t = thread_present();
    if (t)
        modules_meet_opened(t);
    else
        modules_look_again();
    if (!LIKELY(!replays))
        part_await_others(t);
    bool any = atomic_load(&recorded), libraries = atomic_load(&library_threads);
    if (libraries && modules_under_record())
        unseen_tell(UNSEEN_RUNTIME,
                    "threads that libraries start: see them with poet record --libraries");
    child_ends(0);
    uint64_t lost = t ? lost_for_room(t) : 0; /* (its queue goes with it) */
    life_end_main();
    tell_ends(ENDS_EXIT);
    unseen_pass_on();
    if (server_sends)
        sender_leave(SENDER_MS);
    attach_say_lost(lost);
    say_what_was_recorded(any, libraries);
    launch_wait(WHOLE_MS);
}

/* Lifecycle of tracing: connecting to a server and introducing the process, at the start, after a
 * fork, and again when a lost server returns; then the end. */
#define _GNU_SOURCE
#include "clients/libpoet/core/lifecycle.h"

#include "base/clock.h"
#include "clients/libpoet/core/child_preload.h"
#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/server_launch.h"
#include "clients/libpoet/core/shared_objects.h"
#include "clients/libpoet/core/socket_sender.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/core/wait_stack.h"
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/interpose/input_calls.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/profile/function_filter.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/profile/library_imports.h"
#include "clients/libpoet/profile/measurement_choice.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/sampling.h"
#include "clients/libpoet/profile/user_metrics.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "wire/endpoint.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/profile_region.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* One thread at a time introduces the process; the buffers are not on a stack, which may be
 * small. */
static char text[16384];
static char file[PATH_MAX];
static uint8_t lifecycle_answer[1024];
static bool by_agent; /* the server replied that it is an agent */
static struct error error;

/* Reads the arguments of the process, one after the other, into `text`; returns their size. */
static size_t lifecycle_read_arguments(uint32_t *count)
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
static bool is_child; /* created by fork: it has the variables of its parent */
static char endpoint[400]; /* of this machine */
/* where an agent forwards to; "": no agent is needed */
static char lifecycle_target[400];

/* Name of the launch that this process belongs to, from a linked library; NULL: none. */
#pragma weak poet_job_id
static const char *lifecycle_launch_name(void) { return poet_job_id ? poet_job_id() : NULL; }

static uint64_t random_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = tracer_clock_now() ^ ((uint64_t)getpid() << 40);
    return number;
}

/* The run that this process belongs to: inherited, or of its launch, or begun here. It is kept in a
 * child after fork, whatever became of the environment (setproctitle() overwrites it). */
static bool begun_here = true;
static const char *run_name(void)
{
    static char name[256];
    if (*name)
        return name;
    const char *inherited = environment_get("POET_RUN"), *launch = lifecycle_launch_name();
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

static void lifecycle_encode_hello(struct encoder *out)
{
    static char path[PATH_MAX], host[NAME_BYTES + 1];
    struct timespec wall;
    syscall(SYS_clock_gettime, CLOCK_REALTIME,
            &wall); /* (the C library's may read a forbidden counter) */
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    gethostname(host, sizeof host - 1);
    struct program_hello hello = {
        .role = ROLE_PROGRAM,
        .run = text_view_of(run_name()),
        .environment = text_view_of(environment),
        .path = message_text_limit(path, LIMIT_TEXT_BYTES - 1),
        .host = text_view_of(tracer_clock_host() ? tracer_clock_host() : host),
        .pid = (uint32_t)getpid(),
        .instance = tracer.process.instance,
        .clock_ns = tracer_clock_now(),
        .wall_ns = timespec_ns(wall)};
    size_t size = lifecycle_read_arguments(&hello.argument_count);
    encoder_begin_message(out, MESSAGE_HELLO);
    encode_hello(out, &hello);
    for (size_t i = 0; i < size; i += strlen(text + i) + 1)
        encode_argument(out, message_text_limit(text + i, LIMIT_TEXT_BYTES - 1));
    if (!is_child) /* (other threads may be changing the environment) */
        environment_encode(out, environment);
    encoder_end_message(out);
}

/* Like recv; *descriptor is set if the message has one. */
static ssize_t lifecycle_receive(int fd, void *data, size_t size, int *descriptor)
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

/* Reads the server's WELCOME or ERROR. If the server refuses: sets why, in its words or
 * libpoet's. */
static bool lifecycle_decode_welcome(int fd, unsigned timeout_ms, struct error *why, int *counters)
{
    uint8_t *data = lifecycle_answer;
    size_t size = 0, length = 0;
    unsigned type = 0;
    const char *wrong = "no answer";
    for (uint64_t begin = tracer_clock_now();
         tracer_clock_now() - begin < timeout_ms * 1000000ull;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, 100);
        ssize_t n = lifecycle_receive(fd, data + size, sizeof lifecycle_answer - size, counters);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            wrong = n ? strerror(errno) : "connection closed by server";
            break;
        }
        size += n > 0 ? (size_t)n : 0;
        int got = frame_read(data, size, sizeof lifecycle_answer, &type, &length, &wrong);
        if (got < 0)
            break;
        if (got == 0)
            continue;
        struct decoder in = decoder_init(data + MESSAGE_FRAME_BYTES, length);
        if (type == MESSAGE_WELCOME) {
            decode_u32(&in); /* the version matches, else the server would have refused */
            uint32_t flags = decode_u32(&in);
            by_agent = flags & WELCOME_AGENT;
            tracer.server.allows_remote = flags & WELCOME_REMOTE;
            tracer.server.is_scarce = flags & WELCOME_SCARCE;
            uint32_t n_text = decode_u32(&in);
            const uint8_t *words = decode_bytes(&in, n_text); /* message for the user */
            snprintf(why->text, sizeof why->text, "%.*s", (int)(words ? n_text : 0),
                     words ? (const char *)words : "");
            return true;
        }
        uint32_t n_text = decode_u32(&in);
        const uint8_t *words = decode_bytes(&in, n_text);
        snprintf(why->text, sizeof why->text, "%.*s", (int)(words ? n_text : 0),
                 words ? (const char *)words : "");
        return false;
    }
    snprintf(why->text, sizeof why->text, "%s", wrong);
    return false;
}

static bool lifecycle_begins; /* before the program runs */

/* Lets the server read in which calls threads sleep, which Yama would refuse; only at the
 * beginning, since the program may permit another process later. */
static void lifecycle_permit_server(int fd)
{
    struct ucred server = {0};
    socklen_t size = sizeof server;
    if (lifecycle_begins && seccomp_allows(ALLOWED_TRACING) &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &size) == 0 && server.pid > 0)
        prctl(PR_SET_PTRACER, (unsigned long)server.pid, 0, 0, 0);
}

/* Begins a new lifetime under a server that was connected: a new instance, with all declarations
 * sent again. */
static bool lifecycle_introduce(int fd, unsigned timeout_ms, struct error *why)
{
    tracer.process.instance = random_number();
    fd = server_connection_move_aside(server_connection_move_fd(fd, 3));
    trace_lines_begin();
    struct encoder out = {0};
    lifecycle_encode_hello(&out);
    modules_announce(&out);
    type_code_announce(&out);
    untraced_use_announce(&out);
    const char *complaint = report_request_announce(&out, *file);
    bool begun = server_connection_begin(fd, &out);
    encoder_free(&out);
    int counters = -1;
    /* the server hung up: its reason can be read */
    bool cut = !begun && !atomic_load(&tracer.lifetime.number);
    bool welcome =
        (begun || cut) && lifecycle_decode_welcome(fd, timeout_ms, why, &counters) && begun;
    shared_object_begin(counters, tracer.process.instance);
    if (welcome && by_agent)
        complaint = report_request_agent_message();
    if (complaint && welcome)
        stderr_log_print_once("%s", complaint);
    if (welcome && (!tracer.server.needs_socket || socket_sender_begin())) {
        user_metrics_announce();
        measurement_choice_announce();
        lifecycle_permit_server(fd);
        return true;
    }
    if (!begun && !cut)
        snprintf(why->text, sizeof why->text, "server not responding");
    server_forget();
    return false;
}

/* ---- at the start ---- */

#define LEAST_TIMEOUT_MS 2000u

/* Returns how long the program waits at its beginning for a server's answer. */
static unsigned lifecycle_first_timeout_ms(void)
{
    unsigned chosen = server_wait_ms();
    return chosen > LEAST_TIMEOUT_MS ? chosen : LEAST_TIMEOUT_MS;
}

static void lifecycle_choose_environment(void)
{
    const char *chosen = environment_get("POET_ENVIRONMENT");
    if (chosen && *chosen)
        snprintf(environment, sizeof environment, "%s", chosen);
    else if (thread_runtime())
        snprintf(environment, sizeof environment, "%s", thread_runtime());
}

/* Connects to a running server. Returns -1 with why: it cannot be used, "": there is none, and none
 * is named. */
static int lifecycle_connect(const char *named)
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

/* Starts a server, or an agent of the target, which the processes of a run share. */
static bool lifecycle_launch_server(void)
{
    const struct server_launch what = {.name = *lifecycle_target ? run_name()
                                               : environment_get("POET_RUN")
                                                   ? NULL
                                                   : lifecycle_launch_name(),
                                       .to = *lifecycle_target ? lifecycle_target : NULL};
    bool joined = true, introduced = false;
    for (int tries = 0; tries < TRIES && joined && !introduced; tries++) {
        if (tries)
            nanosleep(&(struct timespec){0, 50000000}, NULL);
        int fd = server_launch_start(&what, &joined, file, sizeof file, endpoint, sizeof endpoint);
        *error.text = 0;
        introduced = fd >= 0 && lifecycle_introduce(fd, lifecycle_first_timeout_ms(), &error);
    }
    server_launch_done();
    return introduced;
}

static bool begins_with(const char *words, const char *begin)
{
    return strncmp(words, begin, strlen(begin)) == 0;
}

static bool lifecycle_connect_or_launch(const char *named, bool own)
{
    int fd = own || *lifecycle_target ? -1 : lifecycle_connect(named);
    bool needed = own || *lifecycle_target || (fd < 0 && !*error.text);
    bool introduced =
        needed ? lifecycle_launch_server()
               : fd >= 0 && lifecycle_introduce(fd, lifecycle_first_timeout_ms(), &error);
    const char *peer = *lifecycle_target ? lifecycle_target
                       : *file           ? "its own server"
                       : fd >= 0         ? endpoint
                                         : "";
    if (begins_with(error.text, peer) || (*file && begins_with(error.text, file)))
        peer = "";
    if (!introduced && *error.text)
        stderr_log_print_once("%s%s%s: tracing disabled", peer, *peer ? ": " : "", error.text);
    else if (introduced && *error.text)
        stderr_log_print_once("%s%s%s", peer, *peer ? ": " : "", error.text);
    return introduced;
}

static void lifecycle_attach(void)
{
    const char *named = environment_get("POET_SERVER");
    const char *output = environment_get("POET_OUTPUT"); /* it needs a server of its own */
    bool own = output && *output;
    if (environment_is_unsafe() || (named && strcmp(named, "none") == 0))
        return;
    lifecycle_choose_environment();
    if (own || !named || !endpoint_is_other_host(named, lifecycle_target, sizeof lifecycle_target))
        *lifecycle_target = 0;
    tracer.server.needs_socket = !server_may_share();
    /* its server could not convert them */
    tracer.clock.has_ticks = tracer.clock.has_ticks && !tracer.server.needs_socket;
    if (!lifecycle_connect_or_launch(named, own) || !*file)
        return;
    environment_set("POET_SERVER", endpoint); /* for programs that this one starts */
    environment_unset("POET_OUTPUT");
    stderr_log_print("%srecording to %s (keeps the last %s). View: poet view %s",
                     own ? "" : "no server running; ", file,
                     environment_get("POET_KEEP") ? environment_get("POET_KEEP") : "1 GB", file);
}

/* ---- again ---- */

/* Connects to a server that listens where the last one did, but not if libpoet started that. Silent
 * if there is none. */
static bool lifecycle_reattach(unsigned timeout_ms)
{
    bool absent;
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    int fd = *endpoint ? endpoint_connect(endpoint, (int)timeout_ms, &absent, &error) : -1;
    bool done = fd >= 0 && lifecycle_introduce(fd, timeout_ms, &error);
    pthread_setcancelstate(cancelling, NULL);
    return done;
}

#define AGAIN_NS 1000000000u

static _Atomic uint64_t lifecycle_last_try;
static _Atomic bool lifecycle_is_trying;

uint32_t lifecycle_retry(void)
{
    if (!seccomp_allows(ALLOWED_CONNECTING))
        return 0;
    uint64_t now = clock_read_ns(CLOCK_MONOTONIC_COARSE);
    uint64_t before = atomic_load_explicit(&lifecycle_last_try, memory_order_relaxed);
    if (before == 0)
        atomic_compare_exchange_strong(&lifecycle_last_try, &before,
                                       now); /* it has only just gone */
    if (before == 0 || now - before < AGAIN_NS || atomic_exchange(&lifecycle_is_trying, true))
        return 0;
    int saved = errno;
    if (!atomic_load(&tracer.lifetime.number) && lifecycle_reattach(server_wait_ms()))
        stderr_log_print("%s: reconnected to a server; tracing resumed", endpoint);
    atomic_store(&lifecycle_last_try, now);
    atomic_store(&lifecycle_is_trying, false);
    errno = saved;
    return atomic_load(&tracer.lifetime.number);
}

/* ---- fork ---- */

/* The key of the message from this thread to the child that it is creating; 0, 0: none. */
static __thread struct lifecycle_fork {
    uint64_t high, low;
} forked __attribute__((tls_model("initial-exec")));

void lifecycle_forking(uint64_t high, uint64_t low) { forked = (struct lifecycle_fork){high, low}; }

/* The child records in a lifetime of its own, which it begins with its first traced call: most
 * children do nothing but execute another program. */
static void lifecycle_begin_child(void)
{
    bool was_traced = thread_base != NULL && current_lifetime_before_fork();
    is_child = true;
    /* forked by a signal handler: the interrupted code continues */
    if (thread_mine && thread_mine->busy)
        server_queue_forked(thread_mine);
    sampling_forked();
    region_forked(thread_mine);
    user_metrics_forked();
    server_forked();
    lost_events_forked();
    untraced_use_forked();
    atomic_store(&lifecycle_is_trying, false);
    sync_objects_forked();
    barriers_forked();
    type_code_forked();
    socket_sender_forked();
    modules_forked();
    thread_lifetime_forked(was_traced);
    child_fork_begin(forked.high == child_key_high() ? forked.low : 0);
}

/* libpoet-process handles forks by a handler of its own, which ran only if handlers run. */
#pragma weak poet_process_forked
void poet_process_forked(void);

static _Atomic pid_t begun_unseen; /* the child that began without handlers */

void lifecycle_forked(void)
{
    atomic_store(&begun_unseen, getpid());
    lifecycle_begin_child();
    if (poet_process_forked)
        poet_process_forked();
}

/* (a handler of the program's that ran before this one may have begun the lifetime) */
static void lifecycle_after_fork(void)
{
    if (atomic_exchange(&begun_unseen, 0) != getpid())
        lifecycle_begin_child();
    fork_call_release_signals();
}

void lifecycle_disable(void)
{
    *endpoint = 0;
    server_connection_abandon();
    thread_mine = thread_base = NULL;
}

struct traced_thread *lifecycle_child(void)
{
    struct lifecycle_fork key = forked;
    int saved = errno;
    lifecycle_forking(0, 0); /* it has other children of its own */
    sync_objects_begin_child();
    bool reached = seccomp_allows(ALLOWED_CONNECTING) && lifecycle_reattach(server_wait_ms());
    struct traced_thread *t = reached ? thread_lifetime_begin_child(key.high, key.low) : NULL;
    if (t)
        child_recording_begin();
    errno = saved;
    return t;
}

/* ---- the process ---- */

/* quick_exit() runs no destructors.  The handler that was registered first runs last. */
static void lifecycle_stop_quickly(void) { child_record_exit_at_once(0); }

static void lifecycle_start_process(void) __attribute__((constructor(200)));
static void lifecycle_start_process(void)
{
    real_find();
    int saved = errno;
    foreign_thread_block(true);
    input_call_find_functions();
    stderr_log_begin();
    child_preload_begin();
    function_filter_begin();
    modules_begin();
    wait_stack_begin();
    tracer_clock_begin();
    server_begin();
    bool first = !environment_get("POET_RUN");
    lifecycle_begins = true;
    lifecycle_attach();
    lifecycle_begins = false;
    if (atomic_load(&tracer.lifetime.number)) {
        measurement_wanted_begin();
        measurement_choice_announce();
    }
    instrument_begin();
    exceptions_begin();
    if (atomic_load(&tracer.lifetime.number)) {
        replay_begin();
        input_call_begin(first);
        thread_lifetime_begin_main();
        library_imports_begin(measurement_choice_await());
        sampling_begin(thread_base);
        untraced_runtimes_report();
        untraced_runtime_check_program(modules_under_record() && begun_here);
        untraced_imports_report();
        input_call_report_stdio();
    }
    foreign_thread_block(false);
    stderr_log_begun();
    at_quick_exit(lifecycle_stop_quickly);
    fork_call_prepared(
        pthread_atfork(fork_call_prepare, fork_call_release_signals, lifecycle_after_fork) == 0);
    errno = saved;
}

static void lifecycle_print_summary(bool any, bool libraries)
{
    if (WANTED_RATE(measurement_wanted_initial()) && libraries)
        stderr_log_print(
            "threads started by libraries: %u; not sampled before their first recorded "
            "call (sample them with: poet record --libraries)",
            atomic_load(&tracer.threads.untraced));
    if (measurement_wanted_initial() & (WANTED_CALLS | WANTED_SAMPLES(UINT16_MAX))) /* no events */
        return;
    if (!any && !modules_under_record())
        stderr_log_print(
            "no events recorded: no object file built with -trace calls a traced function%s; build "
            "with: poetcc -trace",
            libraries ? " (libraries start threads)" : "");
    else if (!any && libraries)
        stderr_log_print(
            "no events of the program itself recorded, but its libraries start threads; trace them "
            "with: poet record --libraries");
}

void lifecycle_report_lost(uint64_t lost)
{
    static _Atomic uint32_t reported_in;
    uint32_t life = atomic_load(&tracer.lifetime.number);
    if (lost && atomic_exchange(&reported_in, life) != life)
        stderr_log_print("at least %llu events lost (no space left to write the trace); "
                         "exact number: poet stat %s",
                         (unsigned long long)lost,
                         *file               ? file
                         : *lifecycle_target ? "latest"
                                             : endpoint);
}

#define WHOLE_MS 10000

static void lifecycle_stop_process(void) __attribute__((destructor(200)));
static void lifecycle_stop_process(void)
{
    if (seccomp_is_quiet())
        return;
    server_launch_end();
    if (!atomic_load(&tracer.lifetime.number))
        return;
    struct traced_thread *t = thread_present();
    if (t)
        modules_announce_opened(t);
    else
        modules_rescan();
    replay_hook_process_end(t);
    bool any = atomic_load(&tracer.events.has_any),
         libraries = atomic_load(&tracer.threads.untraced);
    if (libraries && modules_under_record())
        untraced_use_report(UNTRACED_RUNTIME,
                            "threads started by libraries (trace: poet record --libraries)");
    child_record_exit(0);
    uint64_t lost = t ? lost_events_count_no_room(t) : 0; /* (its queue goes with it) */
    thread_lifetime_end_main();
    message_queue_send_end(ENDS_EXIT);
    untraced_use_forward();
    if (tracer.server.needs_socket)
        socket_sender_finish(SENDER_MS);
    lifecycle_report_lost(lost);
    lifecycle_print_summary(any, libraries);
    server_launch_wait(WHOLE_MS);
}

/* libpoet-process: what processes, and the threads in them, do with each other through objects of
 * the kernel, told through poet.h: bytes through pipes, FIFOs, socketpairs and TCP, eventfds, POSIX
 * message queues and file locks.  poet record loads it, poetcc -trace -processes links it; it
 * stands before the calls of the C library.
 *
 * A stream is followed only if a traced process made it, and as long as the bytes add up: who wrote
 * which is known by their positions, which are counted in memory that the processes share.  When
 * two write or read at once, or bytes come that no call here has seen, the stream is not followed
 * any more: a text says so, and what is read from then on bears a doubt.  No order is claimed that
 * is not borne out.
 *
 * Every call may be made by a signal handler: no lock is held over a call of the program's, and
 * what is here is not entered by a handler while its thread is here. */
#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/byte_calls.h"
#include "clients/libpoet/ipc/fd_close.h"
#include "clients/libpoet/ipc/fd_ends.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/ipc/tcp_peers.h"
#include "clients/libpoet/ipc/file_locks.h"
#include "clients/libpoet/ipc/message_queues.h"
#include "clients/libpoet/ipc/byte_streams.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

/* libpoet looks for it. */
API extern const char poet_process_follows[];
const char poet_process_follows[] = "process";

/* ---- a fork ---- */

static void ipc_tracer_forked(void)
{
    ipc_entry_begin();
    ipc_inside_library = false;
    ipc_event_forked();
    byte_calls_forked();
    mqueues_forked();
    file_locks_forked();
}

/* libpoet calls them where no handlers run. */
API void poet_process_forking(void);
API void poet_process_forked(void);
void poet_process_forking(void) { tcp_peer_forked(); }
void poet_process_forked(void) { ipc_tracer_forked(); }

/* ---- a signal ---- */

/* libpoet calls it in a signal handler, before it records that.  What a thread has written may
 * be read, and the signal be sent by the reader, before the call that wrote it has come back: so
 * much of it is recorded first.  False: the handler is not to be recorded. */
API bool poet_process_interrupted(void);
bool poet_process_interrupted(void) { return byte_calls_interrupted() && mqueues_interrupted(); }

/* ---- the beginning ---- */

/* What a program that was executed gets as its standard input may be a stream of the run. */
static void ipc_tracer_check_stdin(void)
{
    static const char *const names[] = {"fgets",          "fgets_unlocked",
                                        "fread",          "fread_unlocked",
                                        "getc",           "getc_unlocked",
                                        "_IO_getc",       "fgetc",
                                        "getchar",        "getline",
                                        "getdelim",       "__getdelim",
                                        "scanf",          "fscanf",
                                        "__isoc99_scanf", "__isoc99_fscanf",
                                        "__isoc23_scanf", "__isoc23_fscanf",
                                        "__uflow",        "__fgets_chk",
                                        "__fread_chk",    NULL};
    if (stream_find(fd_end_find(STDIN_FILENO, false).key).state != STREAM_UNKNOWN &&
        poet_imports(names))
        poet_untraced("stdio reads from a pipe or socket");
}

__attribute__((constructor)) static void ipc_tracer_begin(void)
{
    ipc_entry_begin();
    QUIETLY(ipc_tracer_check_stdin());
    if (poet_recorded() && !poet_counter(1, true))
        poet_untraced("pipes, sockets, queues and file locks: the server is on another host");
    fd_close_init();
    pthread_atfork(tcp_peer_forked, NULL, ipc_tracer_forked);
}

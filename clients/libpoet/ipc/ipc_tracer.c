/* libpoet-process: synchronization of processes and their threads through objects of the kernel,
 * recorded through poet.h: bytes through pipes, FIFOs, socketpairs and TCP, eventfds, POSIX message
 * queues and file locks. poet record loads it, poetcc -trace -processes links it; it interposes
 * calls of the C library.
 *
 * A stream is traced only if a traced process created it, and as long as the bytes add up: their
 * writer is known by their positions, which are counted in memory that the processes share. When
 * two threads write or read at the same time, or bytes arrive that no traced call has written, the
 * stream is not traced any more: a note says so, and later reads are uncertain. No order is
 * recorded that is not proven.
 *
 * All calls are async-signal-safe: no lock is held over a call of the program's, and a handler does
 * not enter this code while its thread is in it. */
#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/ipc_tracer.h"
#include "clients/libpoet/ipc/fd_ends.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"
#include "clients/libpoet/ipc/tcp_peers.h"
#include "clients/libpoet/ipc/byte_streams.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

/* Looked up by libpoet. */
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

/* Called by libpoet where no handlers run. */
API void poet_process_forking(void);
API void poet_process_forked(void);
void poet_process_forking(void) { tcp_peer_forked(); }
void poet_process_forked(void) { ipc_tracer_forked(); }

/* ---- a signal ---- */

/* Called by libpoet in a signal handler, before it records that. What a thread has written may be
 * read, and the signal be sent by the reader, before the writing call has returned: so that much of
 * it is recorded first. Returns false if the handler must not be recorded. */
API bool poet_process_interrupted(void);
bool poet_process_interrupted(void) { return byte_calls_interrupted() && mqueues_interrupted(); }

/* ---- the beginning ---- */

/* The standard input of an executed program may be a stream of the run. */
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

/* A session is one program's side of a run: it turns messages and slots, live or from a
 * trace file, into lines and events of the run.  It knows no socket.
 *
 * The session supplies the thread order: every event of a thread comes after the
 * thread's previous one, by an edge unless the line says so already. */
#ifndef SERVER_DECODE_PROGRAM_SESSION_H
#define SERVER_DECODE_PROGRAM_SESSION_H

#include "server/run/run.h"
#include "wire/message.h"
#include "wire/slot.h"

struct program_session;

/* A decoded HELLO message, which owns its strings. */
struct hello_message {
    uint32_t version;
    uint8_t role;
    char *run, *environment, *path, *host;
    uint32_t pid;
    uint64_t instance, clock_ns, wall_ns;
    char **arguments, **variables;
    size_t argument_count, variable_count;
};
/* Decodes a HELLO. Returns false with in->error if the body is malformed. */
bool hello_message_decode(struct decoder *in, struct hello_message *hello);
void hello_message_free(struct hello_message *hello);

/* Takes the strings out of hello. */
struct program_session *program_session_new(struct run *run, uint32_t number,
                                            struct hello_message *hello);

/* Takes one message of a program (a body), of a thread if it is not 0.  Returns false with the
 * reason in *why if this program cannot be believed any more. */
bool program_session_decode_message(struct program_session *session, unsigned type, uint32_t thread,
                                    const uint8_t *body, size_t size, const char **why);
/* Takes what a thread has measured of its calls by now: the body of a SUMS. */
bool program_session_decode_profile(struct program_session *session, uint32_t thread,
                                    const uint8_t *body, size_t size, const char **why);
/* Decodes a thread's counts of user-defined metrics: the body of a METERS. */
bool program_session_decode_metrics(struct program_session *session, uint32_t thread,
                                    const uint8_t *body, size_t size, const char **why);
/* Takes when calls of a thread began and ended: the body of an ENTRIES. */
bool program_session_decode_calls(struct program_session *session, uint32_t thread,
                                  const uint8_t *body, size_t size, const char **why);
/* Takes which tasks were on the carrier of that number: the body of a SPANS
 * (placement_records.h). */
bool program_session_decode_carriers(struct program_session *session, uint32_t number,
                                     const uint8_t *body, size_t size, const char **why);
/* Takes what the kernel said of its threads: the body of a SWITCHES (wire/context_switches.h). */
bool program_session_decode_switches(struct program_session *session, const uint8_t *body,
                                     size_t size, const char **why);
/* Takes the body of a STEPS, which was kept of a record, of any program of the run; false: it
 * cannot be. */
bool program_session_decode_activity(struct run *run, const uint8_t *body, size_t size);
/* Before it ends: what it announced names what its threads measured. */
void program_session_name_sums(const struct program_session *session);
void program_session_name_metrics(const struct program_session *session);
/* Takes slots of the thread that has the line with code `thread`. */
bool program_session_decode_slots(struct program_session *session, uint32_t thread,
                                  const struct ring_slot *slots, size_t count, const char **why);

/* The program hung up: what it took but did not publish is lost.  Frees the session.  run_step does
 * the rest. */
void program_session_close(struct program_session *session);
/* From now on slots come from this region of the journal; stale: facts in it are known. */
void program_session_batch(struct program_session *session, uint32_t epoch, bool stale);
/* Frees the session without ending its lines in the order: for a file that ends before its run
 * does. */
void program_session_free(struct program_session *session);

/* The line of a thread by the code that the program has for it; 0: not announced. */
uint32_t program_session_own_line(const struct program_session *session, uint32_t code);

#endif

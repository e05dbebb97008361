/* A process or a core file that poet attach inspects: its snapshot, stacks and wait-for graph, and
 * the labels and sentences of both outputs. */
#ifndef CLIENTS_CLI_ATTACHED_PROCESS_H
#define CLIENTS_CLI_ATTACHED_PROCESS_H

#include "clients/cli/command_source.h"
#include "clients/connection/wait_list.h"
#include "clients/snapshot/wait_for_graph.h"
#include "wire/endpoint.h"
#include "wire/os_usage.h"
#include "wire/trace_view.h"

struct attached_process {
    struct snapshot snapshot;
    struct process_info process;
    struct symbolizer *sites; /* of process 0 */
    struct thread_stack *stacks; /* of each thread */
    uint32_t *frames; /* of each thread: that of the application; UINT32_MAX: there is none */
    struct wait_for_graph graph;
    char **labels; /* of each node, such as "T:worker#2" */
    char **far_sites; /* of each node of another process that hangs: where it waits; else NULL */
};

/* Reads a process, or a core file (NULL: none). */
bool attached_process_read(struct attached_process *attached, uint32_t pid, const char *core,
                           struct error *error);
void attached_process_free(struct attached_process *attached);

/* Returns the place of the frame of the application that is nearest to the wait; "": there is none.
 * Valid until the next call. */
const char *attached_process_site(const struct attached_process *attached, uint32_t thread);
/* Returns the same of a node of another process; "": it is not known, or the thread does not
 * hang. */
const char *attached_process_far_site(const struct attached_process *attached, uint32_t node);
/* Returns the label of what a node waits for, "M:knives"; "" for none. The caller frees it. */
char *attached_process_object(const struct attached_process *attached,
                              const struct wait_node *node);

/* Returns "latch", "barrier", ...: what of the C++ library a thread waits for that sleeps at a
 * futex; NULL: not known. */
const char *attached_process_library_object(const struct attached_process *attached,
                                            uint32_t thread);
/* Returns the name of the variable with the futex at which a thread sleeps; NULL: it has none.
 * Valid until the next call. */
const char *attached_process_futex(const struct attached_process *attached,
                                   const struct wait_node *node);

/* The list in which a thread is: */
enum attached_state {
    ATTACHED_RUNS,
    ATTACHED_WAITS, /* for an object that is known */
    ATTACHED_SLEEPS, /* in a call, for something that is not known */
    ATTACHED_STOPPED /* by a signal or a debugger */
};
enum attached_state attached_process_state(const struct attached_process *attached,
                                           uint32_t thread);
enum sleep_call attached_process_call(const struct attached_process *attached, uint32_t thread);

/* Sentences, for the caller to free; NULL: there is nothing to say. */
/* "T:a waits for M:m, held by T:b (according to glibc's mutex)" */
char *attached_process_edge(const struct attached_process *attached, const struct wait_cycle *cycle,
                            uint32_t step);
/* "held by T:b, according to glibc's mutex", "2 of 3 threads have arrived" */
char *attached_process_holder(const struct attached_process *attached,
                              const struct wait_node *node);
/* "T:b is itself blocked on M:m and will never resume" */
char *attached_process_chain(const struct attached_process *attached, const struct wait_node *node);
/* "HANG: M:pool is held by thread 4711 ...: its waiters will never resume" */
char *attached_process_abandoned(const struct attached_process *attached,
                                 const struct wait_node *node);
/* "HANG: all 3 threads of the process wait ...", of a process of which all threads wait for each
 * other; with the reason in a second line if it is uncertain */
char *attached_process_all_wait(const struct attached_process *attached);
/* "uncertain: ... could hold an end of the pipes", "... could open Q:/queue" */
char *attached_process_uncertainty(const struct attached_process *attached);

/* ---- attach output ---- */

struct json_object;

/* The process that is shown, and its run if it is traced. */
struct attach_output {
    struct attached_process *attached;
    struct command_source *run; /* NULL: it is not traced */
    struct wait_list waits; /* of the run */
    uint32_t *lines; /* line of each thread in the run; 0: it has none */
};

/* Prints the text. */
void attach_text_print(const struct attach_output *output);

/* Returns the JSON: the object of poet blocked, and the stacks; the caller frees it. */
struct json_object *attach_json(const struct attach_output *output);

#endif

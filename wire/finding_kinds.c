#include "wire/finding_kinds.h"

#include <string.h>

const struct finding_kind_row finding_kinds[FINDING_KIND_COUNT + 1] =
    {[FINDING_DEADLOCK] = {.name = "deadlock",
                           .group = FINDINGS_OF_HANGS,
                           .headline = "threads wait for each other in a cycle"},
     [FINDING_ABANDONED_LOCK] =
         {.name = "abandoned-lock",
          .group = FINDINGS_OF_HANGS,
          .headline = "the thread that holds a lock has exited, or is not in the process"},
     [FINDING_HANG] = {.name = "hang",
                       .group = FINDINGS_OF_HANGS,
                       .headline = "threads wait for a wake-up that no thread will send"},
     [FINDING_RULE_VIOLATION] = {.name = "rule-violation",
                                 .group = FINDINGS_OF_RULES,
                                 .headline = "the program breaks a rule of mutual exclusion"},
     [FINDING_DATA_RACE] = {.name = "data-race",
                            .group = FINDINGS_OF_RACES,
                            .headline = "two threads access the same memory, at least one by a "
                                        "write, and no synchronization orders them"},
     [FINDING_NO_PROGRESS] = {.name = "no-progress",
                              .group = FINDINGS_OF_PROGRESS,
                              .headline =
                                  "the program recorded no event for the time of --hang-timeout"},
     [FINDING_LOCK_ORDER_INVERSION] = {.name = "lock-order-inversion",
                                       .group = FINDINGS_OF_PREDICTION,
                                       .headline = "locks are acquired in a cyclic order",
                                       .explanation = "potential deadlock (cyclic lock order)",
                                       .participants = {"%T acquired %L%l, then requested %M%m"}},
     [FINDING_READ_RECURSION] =
         {.name = "read-lock-recursion",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "a read lock is acquired again while a writer can wait",
          .explanation = "potential deadlock (a read lock is acquired again while a writer waits)",
          .participants = {"%T read-locked %L%l and again%m", "%T write-locked %L%l"}},
     [FINDING_WAIT_WITH_LOCK] =
         {.name = "wait-with-lock",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "a lock is held during a wait for a thread that requests it",
          .explanation = "potential deadlock (a thread holds a lock while it waits for a thread "
                         "that requests the lock)",
          .participants = {"%T acquired %L%l, then waited for %M%m",
                           "%T requested %L%l, before that wait can end"}},
     [FINDING_NESTED_TASK] =
         {.name = "nested-task",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "tasks of a thread pool wait for other tasks of the pool",
          .explanation = "potential deadlock (a task waits for another one of its thread pool: if "
                         "each thread of the pool does so at once, none is left)",
          .participants = {"%T signaled %L%l, then waited for %M%m",
                           "%T took work under %L, released%l, and ended that wait",
                           "%T waited for work on %L%l"}},
     [FINDING_FORK_WITH_LOCK] =
         {.name = "fork-with-lock",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "the child requests a lock that can be held at the fork",
          .explanation = "the child requests a lock that another thread can hold at the fork",
          .participants = {"%T forked%l", "%T acquired %L%l", "%T requested %L in the child%l"}},
     [FINDING_HANDLER_LOCK] =
         {.name = "handler-lock",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "a signal handler requests a lock that the interrupted thread can hold",
          .explanation =
              "potential deadlock (a signal handler requests a lock that the interrupted "
              "thread holds)",
          .participants = {"%T acquired %L%l; its signal handler requested %M%m",
                           "%T sent the signal to %L%l"}},
     [FINDING_DESTROY_IN_USE] =
         {.name = "destroy-in-use",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "an object is destroyed that another thread uses or can still use",
          .explanation = "an object is destroyed that another thread uses or can still use",
          .participants = {"%T destroyed %L%l", "%T used %L%l"}},
     [FINDING_UNSAFE_SEND] =
         {.name = "unsafe-send",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "threads would wait for each other if no message were buffered",
          .explanation =
              "potential deadlock (sends that return only since their messages are buffered)",
          .participants = {"%T sent to %L%l, received%m"},
          .single = "%T received from %L%l"},
     [FINDING_LOST_WAKEUP] =
         {.name = "lost-wakeup",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "a signal can precede the wait that it should end",
          .explanation =
              "possible lost wake-up; the signal is not sent under the waiter's lock and "
              "can precede the wait",
          .participants = {"%T locked %L%l, then waited on %M%m", "%T signaled %L%l"}},
     [FINDING_UNCHECKED_WAIT] =
         {.name = "unchecked-wait",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "a thread waits without a test whether the signal was already sent",
          .explanation = "possible lost wake-up; no test under the lock precedes the wait, and the "
                         "signal can come before it",
          .participants = {"%T locked %L%l, then waited on %M%m, whatever was signaled before",
                           "%T signaled %L%l, the last time in the run"}},
     [FINDING_SIGNAL_NOT_BROADCAST] =
         {.name = "signal-not-broadcast",
          .group = FINDINGS_OF_PREDICTION,
          .headline = "a signal wakes one thread where several can be waiting",
          .explanation = "the signal wakes one thread, but several can be waiting",
          .participants = {"%T signaled %L%l", "%T locked %L%l, then waited on %M%m"},
          .single = "%T also locked %L%l"},
     [FINDING_MESSAGE_RACE] = {.name = "message-race",
                               .group = FINDINGS_OF_PREDICTION,
                               .headline = "another message can be received instead",
                               .explanation = "wildcard receive; another message can be matched",
                               .participants = {"%T sent to %L%l, received%m",
                                                "%T sent to %L%l, received later%m"}},
     [FINDING_EARLY_SIGNAL] =
         {.name = "early-signal",
          .group = FINDINGS_OF_ORDERS,
          .headline = "the wake-up is lost if the signaling section runs first",
          .explanation =
              "if the signaling critical section runs first, the wake-up is lost unless the "
              "waiter tests its predicate before waiting (not visible in a trace)",
          .participants = {"%T locked %L%l, then waited on %M%m",
                           "%T locked %L%l, then signaled %M%m"}},
     [FINDING_ATOMICITY] =
         {.name = "atomicity-violation",
          .group = FINDINGS_OF_ORDERS,
          .headline = "another critical section can run between two that belong together",
          .explanation = "another critical section can run between these two (possible atomicity "
                         "violation)",
          .participants = {"%T locked %L%l and again%m", "%T locked %L%l"}},
     [FINDING_ORDER_VIOLATION] =
         {.name = "order-violation",
          .group = FINDINGS_OF_ORDERS,
          .headline = "no synchronization enforces the order of two critical sections",
          .explanation = "these critical sections always ran in this order, but no synchronization "
                         "enforces it (possible order violation)",
          .participants = {"%T locked %L%l", "%T locked %L%l next"}},
     [FINDING_LEAK] = {.name = "leak",
                       .group = FINDINGS_OF_MEMORY,
                       .headline = "heap blocks were not freed"},
     [FINDING_DOUBLE_FREE] = {.name = "double-free",
                              .group = FINDINGS_OF_MEMORY,
                              .headline = "a heap block was freed twice"},
     [FINDING_INVALID_FREE] = {.name = "invalid-free",
                               .group = FINDINGS_OF_MEMORY,
                               .headline = "an address was freed that is not a heap block"},
     [FINDING_MISMATCHED_FREE] = {.name = "mismatched-free",
                                  .group = FINDINGS_OF_MEMORY,
                                  .headline =
                                      "a heap block was freed by another allocator's function"},
     [FINDING_ASSERTION] = {.name = "assertion",
                            .group = FINDINGS_OF_ASSERTIONS,
                            .headline = "the run violates an assertion about its events"},
     [FINDING_INCONSISTENT_TRACE] =
         {.name = "inconsistent-trace",
          .group = FINDINGS_OF_CHECK,
          .headline = "a trace contradicts its description or the rules of time"},
     [FINDING_INVALID_DESCRIPTION] = {.name = "invalid-description",
                                      .group = FINDINGS_OF_CHECK,
                                      .headline = "a target description has an error"}};

const struct heap_fault_row heap_faults[HEAP_FAULTS] = {
    [HEAP_TWICE] = {"double free", FINDING_DOUBLE_FREE},
    [HEAP_NO_BLOCK] = {"invalid free (not a block start)", FINDING_INVALID_FREE},
    [HEAP_NEVER] = {"invalid free (not an allocation)", FINDING_INVALID_FREE},
    [HEAP_MALLOC_DELETE] = {"mismatched: malloc + delete", FINDING_MISMATCHED_FREE},
    [HEAP_NEW_FREE] = {"mismatched: new + free", FINDING_MISMATCHED_FREE},
    [HEAP_NEW_ARRAY] = {"mismatched: new[] + delete or new + delete[]", FINDING_MISMATCHED_FREE}};

const struct finding_kind_row *finding_kind_named(const char *name, size_t bytes, unsigned groups)
{
    for (const struct finding_kind_row *kind = finding_kinds; kind->name; kind++)
        if (kind->group & groups && strlen(kind->name) == bytes &&
            memcmp(kind->name, name, bytes) == 0)
            return kind;
    return NULL;
}

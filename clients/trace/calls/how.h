/* In which of its forms a call is made. */
#ifndef CLIENTS_TRACE_CALLS_HOW_H
#define CLIENTS_TRACE_CALLS_HOW_H

#pragma GCC visibility push(hidden)

enum how { HOW_LOCK, HOW_TRY, HOW_TIMED, HOW_CLOCK };

#pragma GCC visibility pop
#endif

/* The text of a lock request that a signal handler makes: this, and the name of the signal. */
#ifndef WIRE_HANDLER_TEXT_H
#define WIRE_HANDLER_TEXT_H

#define TEXT_IN_HANDLER "in the handler of "

#endif

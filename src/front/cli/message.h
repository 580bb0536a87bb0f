/* SPDX-License-Identifier: MIT */
/* One way for the program to say what is wrong. */
#ifndef FRONT_MESSAGE_H
#define FRONT_MESSAGE_H

#include <stdarg.h>

/* Say "berth: …" in one line; the newline is added. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void vmessage(const char *format, va_list words)
	__attribute__((format(printf, 1, 0)));

/* From now on there is no terminal: messages go to the system's log. */
void message_to_syslog(void);

#endif

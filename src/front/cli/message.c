/* SPDX-License-Identifier: MIT */
/*
 * Messages: one line each, to stderr, or to the system's log once the program
 * runs in the background.
 */
#include "front/cli/message.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

/* Set once, before the threads start. */
static bool to_syslog;

void message_to_syslog(void)
{
	openlog("berth", LOG_PID, LOG_DAEMON);
	to_syslog = true;
}

void vmessage(const char *format, va_list words)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, words);
	/* Others' words may come with their own newline. */
	line[strcspn(line, "\n")] = '\0';

	if (to_syslog)
		syslog(LOG_ERR, "%s", line);
	else
		fprintf(stderr, "berth: %s\n", line);
}

void message(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vmessage(format, words);
	va_end(words);
}

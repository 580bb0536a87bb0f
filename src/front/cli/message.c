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
	/* Others' words may end with a newline, names may have one inside. */
	for (size_t i = strlen(line); i-- > 0;) {
		if (line[i] == '\n')
			line[i] = line[i + 1] ? '?' : '\0';
	}

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

/* pldi_door.h - the second way to a job's descriptors: see pldi_launched.h. */
#ifndef PLDI_DOOR_H
#define PLDI_DOOR_H

#include "pldi_launched.h"

enum { PLDI_VISITORS = 8 };

/* Nothing here waits for a visitor: one that says nothing is sent away when its place is needed. */
struct pldi_door {
	int epoll;
	int fd; /* that listens; -1: there is no door */
	int visitor[PLDI_VISITORS];
	unsigned next; /* place of the next visitor, modulo PLDI_VISITORS */
	char name[PLDI_DOOR_TEXT], secret[PLDI_DOOR_TEXT];
};

/* Where there are no such sockets (a sandbox) there is no door: name and secret are "-". */
void pldi_door_open(struct pldi_door *d, int epoll);
/* place: that of a visitor who has said something, or PLDI_VISITORS: somebody is at the door. */
void pldi_door_event(struct pldi_door *d, int place, int seg_fd, int status_fd);

#endif

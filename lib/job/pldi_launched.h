/* pldi_launched.h - how a process finds the job that it was started in. */
#ifndef PLDI_LAUNCHED_H
#define PLDI_LAUNCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pl/status.h>

/* A descriptor that ranks inherit, and the file that it must be. */
struct pldi_job_fd {
	int fd;
	uint64_t dev, ino;
};
/* Fills in the file behind f->fd. */
int pldi_job_fd_know(struct pldi_job_fd *f);
/* Is it open, and this file?  A wrapper may have closed it and opened another. */
bool pldi_job_fd_valid(const struct pldi_job_fd *f);

/*
 * PLD_JOB: "ABI:segment:status:device:inode:device:inode:door:secret".  First the two descriptors,
 * then the file of each.  The door is a second way to both, for programs that a wrapper has started
 * without them: inner listens on the abstract socket "pld-DOOR", and hands them to a process of its
 * own user that says the secret (names of sockets are public, an environment is its user's); where
 * there is none, both are "-".
 */
#define PLDI_DOOR_NAME "pld-"
enum { PLDI_DOOR_TEXT = 37, PLDI_JOB_TEXT = 256 }; /* a UUID */
struct pldi_job_env {
	struct pldi_job_fd seg, status;
	char door[PLDI_DOOR_TEXT], secret[PLDI_DOOR_TEXT];
};
void pldi_job_env_write(const struct pldi_job_env *e, char text[PLDI_JOB_TEXT]);
/* 0; -1: text is not of this form; 1: of another version, whose number is in *abi. */
int pldi_job_env_read(const char *text, struct pldi_job_env *e, unsigned *abi);

/*
 * A visitor sends the secret, zero-terminated; the answer is one such word, and with
 * PLDI_DOOR_GIVEN come the segment and the status pipe.  No answer: the secret was wrong, or there
 * were too many.
 */
enum pldi_door_answer {
	PLDI_DOOR_GIVEN = 'g',
	PLDI_DOOR_STRANGER = 's', /* another user */
};

/* What a process is to be in its job. */
struct pldi_launched {
	int32_t rank, nranks; /* nranks 0: there is no launcher */
	int seg_fd, status_fd;
	bool handed; /* through the door: they are this process's to close */
};
/* From the environment.  An error is one of call. */
pl_status pldi_launched_find(struct pldi_launched *l, const char *call, const char *where);

#endif

/*
 * deny.c - runs a program that the kernel refuses some system calls, for the scripts of this
 * folder:
 *
 *     deny CALL=ERROR.. -- PROGRAM ARGUMENTS
 *
 * CALL is a row of the table below, ERROR a row of the other.  A seccomp filter, which the program
 * and its children keep; no rights are needed to set one.  Exits with 77 where there are none.
 */
#include "config.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum { ANY = -1, MOST = 64, SKIPPED = 77 };

static const struct {
	const char *name;
	int number;
	int third; /* the third argument that is refused; ANY: whatever it is */
} calls[] = {
	{ "mbind", SYS_mbind, ANY },
	{ "set_mempolicy", SYS_set_mempolicy, ANY },
	{ "get_mempolicy", SYS_get_mempolicy, ANY },
	{ "move_pages", SYS_move_pages, ANY },
	{ "process_vm_readv", SYS_process_vm_readv, ANY },
	{ "process_vm_writev", SYS_process_vm_writev, ANY },
	{ "ptrace", SYS_ptrace, ANY },
	{ "pidfd_open", SYS_pidfd_open, ANY },
	{ "memfd_create", SYS_memfd_create, ANY },
	{ "fallocate", SYS_fallocate, ANY },
	{ "populate", SYS_madvise, MADV_POPULATE_WRITE },
	{ "hugepage", SYS_madvise, MADV_HUGEPAGE },
	{ "dontdump", SYS_madvise, MADV_DONTDUMP },
	{ "sched_setaffinity", SYS_sched_setaffinity, ANY },
	{ "close_range", SYS_close_range, ANY },
};

static const struct {
	const char *name;
	int number;
} errors[] = {
	{ "EPERM", EPERM },   { "ENOSYS", ENOSYS },	    { "EINVAL", EINVAL },
	{ "EACCES", EACCES }, { "EOPNOTSUPP", EOPNOTSUPP },
};

#ifdef ARCH
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

static struct sock_filter filter[5 * MOST];
static unsigned short length;

static void add(struct sock_filter f)
{
	filter[length++] = f;
}

static void refuse(int call, int third, int error)
{
	add((struct sock_filter)LOAD(nr));
	add((struct sock_filter)UNLESS((unsigned)call, third == ANY ? 1 : 3));
	if (third != ANY) {
		add((struct sock_filter)LOAD(
			args[2])); /* its low half: both machines store that first */
		add((struct sock_filter)UNLESS((unsigned)third, 1));
	}
	add((struct sock_filter)RETURN(SECCOMP_RET_ERRNO | (unsigned)error));
}

static int parse(const char *rule)
{
	const char *equals = strchr(rule, '=');
	size_t bytes = equals ? (size_t)(equals - rule) : 0;

	for (size_t c = 0; equals && c < sizeof(calls) / sizeof(calls[0]); c++) {
		if (strlen(calls[c].name) != bytes || strncmp(calls[c].name, rule, bytes))
			continue;
		for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
			if (strcmp(errors[e].name, equals + 1) == 0) {
				refuse(calls[c].number, calls[c].third, errors[e].number);
				return 0;
			}
		}
	}
	fprintf(stderr, "deny: '%s' is not CALL=ERROR that this program knows\n", rule);
	return -1;
}
#endif

int main(int argc, char **argv)
{
#ifdef ARCH
	struct sock_fprog program = { .filter = filter };
	int i;

	add((struct sock_filter)LOAD(arch));
	add((struct sock_filter)UNLESS(ARCH, 1));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
	add((struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	for (i = 1; i < argc && i < MOST - 2 && strcmp(argv[i], "--"); i++)
		if (parse(argv[i]))
			return 2;
	if (i + 1 >= argc)
		return 2;
	add((struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		fprintf(stderr, "deny: no seccomp filter can be set here: %s\n", strerror(errno));
		return SKIPPED;
	}
	execvp(argv[i + 1], argv + i + 1);
	fprintf(stderr, "deny: %s: %s\n", argv[i + 1], strerror(errno));
	return 2;
#else
	(void)argc;
	(void)argv;
	(void)calls;
	(void)errors;
	fputs("deny: unknown machine\n", stderr);
	return SKIPPED;
#endif
}

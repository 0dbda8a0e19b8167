/* pldi_tree.h - children of this process and their descendants, found and killed. */
#ifndef PLDI_TREE_H
#define PLDI_TREE_H

#include <sys/types.h>

/* Fills list with up to most children of pid; returns how many.  Those that die meanwhile may hide
 * others: whoever must have all looks again. */
int pldi_children(pid_t pid, pid_t *list, int most);

/* Sends sig to pid, a child of this process that has not been reaped, and to its descendants. */
void pldi_tree_signal(pid_t pid, int sig);

/*
 * SIGKILL to all children of this process but the spared ones.  -1: the only ones that are left may
 * not be killed (they run as another user), or cannot be found (there is no /proc).
 */
int pldi_tree_kill_children(const pid_t *spared, int nspared);

/* Kills and reaps children, and their children which then are ours, until only spared ones and
 * those that cannot be killed are left. */
void pldi_tree_end(const pid_t *spared, int nspared);

#endif

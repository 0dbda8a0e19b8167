# machine.sh - shared by the scripts of this folder: expect of limits.sh, namespaces, what is skipped.
. "$srcdir/tests/errors/limits.sh"
machine=tests/machine
skips=0

# skip WHAT WHY: is said, and the script ends with 77 if nothing else failed.
skip()
{
	echo "SKIP $1: $2"
	skips=1
}

finish()
{
	[ $failed -eq 0 ] || exit 1
	[ $skips -eq 0 ] || exit 77
	exit 0
}

# The way to a mount namespace, as root or through a user namespace; empty: there is none.
mounts=
for flags in -m -Urm; do
	# shellcheck disable=SC2086
	if unshare $flags mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
		mounts="unshare $flags"
		break
	fi
done
[ -n "$mounts" ] || skip "all that needs a mount namespace" "none can be made here"

# mounted 'SCRIPT' COMMAND..: after the script's mounts, which only the command sees.
mounted()
{
	# shellcheck disable=SC2016
	$mounts sh -c 'eval "$1" || exit 99; shift; exec "$@"' sh "$@"
}

can_deny=yes
$machine/deny ptrace=EPERM -- true 2>/dev/null || can_deny=
[ -n "$can_deny" ] || skip "all that needs a seccomp filter" "none can be set here"

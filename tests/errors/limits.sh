# limits.sh - shared by check-limits and check-memory.
failed=0

# expect STATUS 'TEXT' COMMAND..: its exit status; TEXT, where * is anything, is part of its output.
expect()
{
	wanted=$1 text=$2
	shift 2
	out=$("$@" 2>&1)
	status=$?
	# shellcheck disable=SC2254
	case $out in
	*$text*) [ $status -ne "$wanted" ] || return 0 ;;
	esac
	printf '%s\n\twanted status %s and: %s\n\tgot status %s: %s\n' \
		"$*" "$wanted" "$text" $status "$out"
	failed=1
}

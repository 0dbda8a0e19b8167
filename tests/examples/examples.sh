# examples.sh - read by the scripts here: a folder to work in, failing, and for each example what it
# is to be run correctly.

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
top=$PWD
counts="1 2 3 4 5 8"
bad=0
wrong()
{
	echo "$*"
	bad=1
}

need_numpy()
{
	[ -n "$PYTHON" ] && "$PYTHON" -c 'import numpy' 2>/dev/null && return
	echo "no numpy for ${PYTHON:-python3} (Debian: python3-numpy)"
	exit 77
}

# A text that every Debian has.
licences=/usr/share/common-licenses
need_licences()
{
	[ -s $licences/GPL-3 ] && return
	echo "no $licences/GPL-3 (Debian: base-files)"
	exit 77
}

# The functions below run a command and look at all that it says: 0 if it is right, else 1, with
# status, stdout and stderr left in $status, $dir/out and $dir/err.

run()
{
	"$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	[ $status -eq 0 ] && [ ! -s "$dir/err" ]
}

# says_ok COMMAND...: moe_dispatch, halo2d
says_ok()
{
	run "$@" && [ "$(tail -n 1 "$dir/out")" = OK ]
}

# trains FILE EPOCHS COMMAND...: train_dp; the losses and hits are those of numpy
trains()
{
	file=$1 epochs=$2
	shift 2
	says_ok "$@" "$file" --epochs "$epochs" &&
		"$PYTHON" -B "$srcdir/tests/examples/train.py" "$file" "$epochs" \
			<"$dir/out" >>"$dir/err" 2>&1
}

# counts_words FILE COMMAND...: wordcount
counts_words()
{
	file=$1
	shift
	LC_ALL=C tr -cs A-Za-z '\n' <"$file" | sed '/^$/d' | LC_ALL=C sort | uniq -c >"$dir/want"
	run "$@" "$file" && cmp "$dir/want" "$dir/out" >>"$dir/err" 2>&1
}

# heats PLATE.npy STEPS COMMAND...: halo2d; the plate is that of numpy
heats()
{
	plate=$1 steps=$2
	shift 2
	cd "$dir" || exit 1
	rm -f halo2d.npy
	says_ok "$@" "$plate" --steps "$steps" --dump 1 &&
		"$PYTHON" -B "$source/tests/examples/halo.py" "$plate" "$steps" halo2d.npy \
			>>"$dir/err" 2>&1
	heated=$?
	cd "$top" || exit 1
	return $heated
}
source=$(cd "$srcdir" && pwd)

# What run has seen, for a failure.
seen()
{
	echo "status $status; $(tail -n 5 "$dir/out") $(cat "$dir/err")"
}

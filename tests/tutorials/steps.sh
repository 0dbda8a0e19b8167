# steps.sh - read by the scripts here: the list of steps, a folder to work in, building, failing.

# name, then its modes; "-" has none
steps='
01_hello_rank -
02_programming_model -
03_window_buffer -
04_barrier hand builtin
05_remote_load_store load store
06_put_get put get
07_dynamic_rank_count put get'

tutorials=$srcdir/tutorials
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
wrong()
{
	echo "$*"
	bad=1
}

# build SOURCE PROGRAM: as make builds a step, without its warnings; the compiler's words to
# PROGRAM.cc.  libtool finds the libraries that libtut.la needs.
build()
{
	$CC $CPPFLAGS -I"$tutorials" $SANITIZE -std=c11 -g -c "$1" -o "$2.o" >"$2.cc" 2>&1 &&
	./libtool --quiet --tag=CC --mode=link $CC $SANITIZE -o "$2" "$2.o" \
		tutorials/common/libtut.la >>"$2.cc" 2>&1
}

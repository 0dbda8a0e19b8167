# steps.sh - read by the scripts here: the list of steps, a folder to work in, building, failing.

# name, then its modes; "-" has none
steps='
01_hello_rank -
02_programming_model -
03_window_buffer -
04_barrier hand builtin
05_remote_load_store load store
06_put_get put get
07_dynamic_rank_count put get
08_allreduce_mesh -
09_allreduce_two_phase -
10_allreduce_ring -
11_allreduce_reveal mesh two_phase ring auto
12_broadcast hand builtin auto
13_allgather hand builtin view auto
14_reduce_scatter hand builtin auto
15_all_to_all hand builtin auto
16_putting_it_together three one'

tutorials=$srcdir/tutorials
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
wrong()
{
	echo "$*"
	bad=1
}

# What libtool would run to link OUT from IN: it knows the libraries that libtut.la needs, but takes
# longer than the linker, and there are a hundred programs to link.
link_of=$(./libtool --dry-run --tag=CC --mode=link $CC $SANITIZE -o OUT IN \
	tutorials/common/libtut.la | sed -n 's/^libtool: link: //p')

# build SOURCE PROGRAM: as make builds a step, without its warnings; the compiler's words to
# PROGRAM.cc.
build()
{
	$CC $CPPFLAGS -I"$tutorials" $SANITIZE -std=c11 -g -c "$1" -o "$2.o" >"$2.cc" 2>&1 &&
	eval "$(echo "$link_of" | sed "s,-o OUT IN,-o $2 $2.o,")" >>"$2.cc" 2>&1
}

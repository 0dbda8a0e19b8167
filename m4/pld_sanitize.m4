# PLD_SANITIZE
#
# --enable-sanitize=LIST: compile and link everything with -fsanitize=LIST.
# LIST: address, undefined, thread, comma-separated; thread goes alone.
#
# Substitutes PLD_SANITIZE_FLAGS (for compiler and linker both) and pld_sanitize (LIST, or "no").
# Defines PLD_SANITIZE_ADDRESS, PLD_SANITIZE_UNDEFINED, PLD_SANITIZE_THREAD in config.h.
AC_DEFUN([PLD_SANITIZE], [
AC_REQUIRE([AC_PROG_CC])
AX_REQUIRE_DEFINED([AX_CHECK_LINK_FLAG])
AC_ARG_ENABLE([sanitize],
	[AS_HELP_STRING([--enable-sanitize=LIST],
		[instrument with address,undefined or thread])],
	[pld_sanitize=$enableval], [pld_sanitize=no])
AS_IF([test "x$pld_sanitize" = xyes], [pld_sanitize=address,undefined])
PLD_SANITIZE_FLAGS=
AS_IF([test "x$pld_sanitize" != xno], [
	pld_list=`AS_ECHO(["$pld_sanitize"]) | tr ',' ' '`
	for pld_one in $pld_list; do
		AS_CASE([$pld_one],
			[address], [AC_DEFINE([PLD_SANITIZE_ADDRESS], [1],
				[Built with -fsanitize=address.])],
			[undefined], [AC_DEFINE([PLD_SANITIZE_UNDEFINED], [1],
				[Built with -fsanitize=undefined.])],
			[thread], [AC_DEFINE([PLD_SANITIZE_THREAD], [1],
				[Built with -fsanitize=thread.])
				AS_IF([test "x$pld_sanitize" != xthread],
				[AC_MSG_ERROR([--enable-sanitize: thread goes alone])])],
			[AC_MSG_ERROR(
				[--enable-sanitize: "$pld_one" is not address, undefined or thread])])
	done
	# Undefined behaviour is a failed test, not a line in a log.
	PLD_SANITIZE_FLAGS="-fsanitize=$pld_sanitize -fno-sanitize-recover=all -fno-omit-frame-pointer"
	AX_CHECK_LINK_FLAG([$PLD_SANITIZE_FLAGS], [],
		[AC_MSG_ERROR([$CC cannot link with $PLD_SANITIZE_FLAGS])])
])
AC_SUBST([PLD_SANITIZE_FLAGS])
AC_SUBST([pld_sanitize])
])

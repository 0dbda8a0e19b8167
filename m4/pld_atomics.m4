# PLD_ATOMICS
#
# Stops unless C11 atomics of 32 and 64 bits are always lock-free: words shared between processes
# cannot use a lock that lives in one of them.
AC_DEFUN([PLD_ATOMICS], [
AC_CACHE_CHECK([for lock-free C11 atomics of 32 and 64 bits], [pld_cv_atomics],
	[AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <stdatomic.h>
#include <stdint.h>
#if ATOMIC_INT_LOCK_FREE != 2 || ATOMIC_LLONG_LOCK_FREE != 2
#error "not lock-free"
#endif
_Static_assert(sizeof(_Atomic uint32_t) == 4 && sizeof(_Atomic uint64_t) == 8, "no hidden lock");
		]], [])], [pld_cv_atomics=yes], [pld_cv_atomics=no])])
AS_IF([test "x$pld_cv_atomics" = xno],
	[AC_MSG_ERROR([pld needs C11 atomics that are lock-free at 32 and 64 bits])])
])

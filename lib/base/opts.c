/* opts.c - options structs across versions. */
#include "config.h"

#include <string.h>

#include "pldi_opts.h"
#include "pldi_status.h"

pl_status pldi_opts(void *to, size_t known, const void *from, size_t size_at, const char *call,
		    const char *where)
{
	const char *bytes = from;
	size_t size;

	memcpy(&size, bytes + size_at, sizeof(size));
	if (size < size_at + sizeof(size))
		return pldi_fail(PL_EINVAL, call, where,
				 "options without their size: size_ is %zu; "
				 "use the macro %s(..), or set size_ to the struct's size",
				 size, call);
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return pldi_fail(
				PL_EINVAL, call, where,
				"options of %zu bytes with a value at "
				"byte %zu, this library knows %zu: the program is newer than "
				"the library",
				size, i, known);
	memset(to, 0, known);
	memcpy(to, from, size < known ? size : known);
	return PL_OK;
}

/* npy_copy.c - npy_copy FROM TO: reads an .npy file and writes it again. */
#include "config.h"

#include <stdio.h>

#include "npy.h"

int main(int argc, char **argv)
{
	struct npy_error why;
	struct npy a;
	int rc;

	if (argc != 3)
		return 2;
	if (npy_read(argv[1], &a, &why)) {
		fprintf(stderr, "%s: %s\n", argv[1], why.text);
		return 1;
	}
	rc = npy_write(argv[2], a.dtype, &a.dims, a.data, &why);
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[2], why.text);
	npy_free(&a);
	return rc != 0;
}

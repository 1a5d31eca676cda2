/* The kernel's event descriptors, which Swift's module of the C library leaves out. No part of godwit.h. */
#include <sys/eventfd.h>

/* The C library (glibc 2.34 or later) declares it for _GNU_SOURCE alone, which Swift's module of it is made without. */
#include <spawn.h>
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

/* A program loads the library, uses it in a thread, and closes it again. `unload FOLDER`, an empty one. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *use(void *folder) {
  void *library = dlopen("libgodwit.so", RTLD_NOW);
  int (*open)(const char *, const void *, void **) = NULL;
  int (*close)(void *) = NULL;
  void *replica = NULL;
  char path[512];

  if (library == NULL) exit(2);
  *(void **)&open = dlsym(library, "godwit_open");
  *(void **)&close = dlsym(library, "godwit_close");
  snprintf(path, sizeof path, "%s/notes", (const char *)folder);
  if (open(path, NULL, &replica) != 0 || close(replica) != 0 || close(replica) == 0) exit(3);
  dlclose(library);
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t thread;
  if (count != 2 || pthread_create(&thread, NULL, use, arguments[1]) != 0) return 1;
  pthread_join(thread, NULL);
  puts("unloaded");
  return 0;
}

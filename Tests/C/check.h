/* What the programs here share: a failure ends them with its line, its name, message and hint. */
#ifndef CHECK_H
#define CHECK_H

#include "godwit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail_at(int line, const char *what) {
  const godwit_error *error = godwit_last_error();
  fprintf(stderr, "line %d: %s\n", line, what);
  if (error != NULL) {
    fprintf(stderr, "%s (%d): %s\n", error->name, error->code, error->message);
    if (error->hint != NULL) fprintf(stderr, "hint: %s\n", error->hint);
  }
  exit(1);
}

#define REQUIRE(condition) \
  do { \
    if (!(condition)) fail_at(__LINE__, #condition); \
  } while (0)

#define OK(call) REQUIRE((call) == GODWIT_OK)

/* The call fails with this code, which the latest failure has, too, with a message. */
#define FAILS(expected, call) \
  do { \
    int code = (call); \
    if (code != (expected)) { \
      fprintf(stderr, "line %d: %s gave %d\n", __LINE__, #call, code); \
      fail_at(__LINE__, #call); \
    } \
    REQUIRE(godwit_last_error()->code == (expected)); \
    REQUIRE(strlen(godwit_last_error()->message) > 0); \
  } while (0)

static inline godwit_value integer_value(int64_t integer) {
  godwit_value value = {GODWIT_INTEGER, 0, 0, 0, NULL, 0};
  value.integer = integer;
  return value;
}

static inline godwit_value real_value(double real) {
  godwit_value value = {GODWIT_REAL, 0, 0, 0, NULL, 0};
  value.real = real;
  return value;
}

static inline godwit_value bytes_value(int32_t type, const void *bytes, size_t length) {
  godwit_value value = {GODWIT_NULL, 0, 0, 0, NULL, 0};
  value.type = type;
  value.bytes = bytes;
  value.length = length;
  return value;
}

static inline godwit_value text_value(const char *text) { return bytes_value(GODWIT_TEXT, text, strlen(text)); }

/* A path below the folder that the program was given. */
static inline const char *below(const char *folder, const char *name) {
  static char paths[64][512];
  static int next = 0;
  char *path = paths[next++ % 64];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* One table, by a migration. */
static const char *const NOTES =
    "{\"format\": \"godwit migrations 1\", \"migrations\": [{\"version\": 1, \"name\": \"notes\", \"steps\": ["
    "{\"step\": \"createTable\", \"table\": \"note\", \"definitions\": ["
    "{\"name\": \"id\", \"type\": \"text\"}, {\"name\": \"title\", \"type\": \"text\", \"optional\": true}, "
    "{\"name\": \"stars\", \"type\": \"real\", \"optional\": true}, "
    "{\"name\": \"count\", \"type\": \"integer\", \"optional\": true}, "
    "{\"name\": \"image\", \"type\": \"blob\", \"optional\": true}]}]}]}";

static inline godwit_replica *open_notes(const char *path) {
  godwit_options options = GODWIT_OPTIONS;
  godwit_replica *replica = NULL;
  options.migrations = NOTES;
  OK(godwit_open(path, &options, &replica));
  return replica;
}

#endif

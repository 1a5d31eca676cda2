/*
 * Calls of godwit.h as no program should make them: handles of any kind, closed ones and numbers that are none, texts that
 * are not UTF-8, from this thread and others. Nothing may crash or hang, and everything can be closed in the end.
 *
 * `fuzz FIRST COUNT FOLDER` makes inputs from seeds, each of which is one world of calls.
 */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 24, REPLICAS = 3, CALLS = 60 };

static const char *folder;

struct input {
  const uint8_t *bytes;
  size_t count;
  void *slots[SLOTS];
  char kinds[SLOTS];
  godwit_replica *replicas[REPLICAS];
  void *begun[4 * CALLS];
  int begun_count;
  int on_stack;
};

static unsigned take(struct input *input) {
  if (input->count == 0) return 0;
  input->count--;
  return *input->bytes++;
}

/* Mostly one of the kind that is wanted: replica, transaction, rows (o), cache, watch. */
static void *handle(struct input *input, char kind) {
  unsigned choice = take(input), start = take(input), index = 0;
  if (choice < 8) return NULL;
  if (choice < 12) return &input->on_stack;
  if (choice < 16) return (void *)(uintptr_t)(0x60d10001u + 2 * start);
  for (index = 0; choice < 200 && index < SLOTS; index++) {
    if (input->kinds[(start + index) % SLOTS] == kind) return input->slots[(start + index) % SLOTS];
  }
  return input->slots[start % SLOTS];
}

static const char *const TEXTS[] = {
    "note", "people", "thumbs", "ada", "{\"name\": \"Ada\", \"age\": 36}", "{\"age\": {}}", "[]", "", "\xff\xfe", "age > 3",
    "name = 'Ada'", "name", "SELECT * FROM note", "SELECT ?1, ?2", "INSERT INTO note (id, title) VALUES (?, ?)",
    "DELETE FROM note", "UPDATE note SET count = 1", "DROP TABLE note", "CREATE TABLE x (a)", "PRAGMA user_version",
    "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "SELECT a FROM (WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a + 1 "
    "FROM c LIMIT 99) SELECT a FROM c)", "INSERT INTO godwit_log VALUES (1)", "SELECT 1; SELECT 2", "ATTACH 'x' AS y", "\xc3",
    "a\nb", "remote", "..", "/", "SELECT zeroblob(3)", "SELECT load_extension('x')", "INSERT OR FAIL INTO note VALUES (1)",
};

static const char *text(struct input *input) {
  static _Thread_local char own[4][64];
  static _Thread_local int next = 0;
  unsigned choice = take(input), count = 0;
  if (choice < 6) return NULL;
  if (choice < 200) return TEXTS[choice % (sizeof TEXTS / sizeof *TEXTS)];
  char *place = own[next++ % 4];
  for (count = 0; count < choice % 32; count++) place[count] = (char)take(input);
  place[count] = 0;
  return place;
}

/* A file in the folder of this run, which may not be there. */
static const char *path(struct input *input) {
  static const char *const names[] = {"out.godwit-sync", "nothing", "remote", "notes-0", "notes-1", "sub/none"};
  return below(folder, names[take(input) % 6]);
}

static godwit_value value(struct input *input) {
  static const char bytes[] = "\xf0\x9f\x90\xa6 text";
  godwit_value value = bytes_value((int32_t)(take(input) % 7) - 1, bytes, take(input) % sizeof bytes);
  value.integer = (int64_t)((uint64_t)take(input) << (take(input) % 60));
  value.real = take(input) / 3.0;
  if (take(input) < 20) value.bytes = NULL;
  return value;
}

static void keep(struct input *input, void *handle, char kind) {
  unsigned slot = take(input) % SLOTS;
  if (handle == NULL) return;
  if (kind == 't') input->begun[input->begun_count++] = handle;
  input->slots[slot] = handle;
  input->kinds[slot] = kind;
}

/* Of each kind of handle, by the number of a call. */
static char kind_of(unsigned call) {
  if (call == 6 || call == 7 || call == 37 || (8 <= call && call <= 11) || (15 <= call && call <= 19)) return 't';
  if (12 <= call && call <= 14) return 'o';
  if (21 <= call && call <= 25) return 'c';
  return call == 35 ? 'w' : 'r';
}

static void close_replica(struct input *input, void *replica) {
  int index = 0, result = godwit_close(replica);
  for (index = 0; index < REPLICAS; index++) {
    if (replica != NULL && replica == input->replicas[index] && result == GODWIT_OK) input->replicas[index] = NULL;
  }
}

static void use_rows(struct input *input, godwit_rows *rows) {
  const godwit_value *row = NULL;
  size_t column = 0, count = godwit_column_count(rows);
  unsigned sum = 0;

  godwit_column_name(rows, take(input));
  if (godwit_next(rows, &row) != GODWIT_ROW) return;
  for (column = 0; column < count; column++) {
    size_t index = 0;
    for (index = 0; index < row[column].length; index++) sum += ((const unsigned char *)row[column].bytes)[index];
  }
  input->on_stack += (int)sum;
}

static void one_call(struct input *input) {
  void *made = NULL, *place = NULL;
  char *json = NULL;
  int number = 0, descriptor = -1;
  int64_t changed = 0;
  size_t length = 0;
  godwit_value values[3] = {value(input), value(input), value(input)};
  const char *names[2] = {text(input), text(input)};
  unsigned call = take(input) % 38, many = take(input);
  void *object = handle(input, kind_of(call));

  switch (call) {
    case 0: {
      godwit_options options = GODWIT_OPTIONS;
      options.migrations = many % 8 == 0 ? text(input) : NOTES;
      options.must_exist = many % 3 == 0;
      options.read_only = many % 7 == 0;
      options.name = many % 5 == 0 ? text(input) : NULL;
      options.busy_milliseconds = 20;
      unsigned slot = many % REPLICAS;
      char name[16];
      if (input->replicas[slot] != NULL) break;
      snprintf(name, sizeof name, "notes-%u", slot);
      if (godwit_open(below(folder, name), &options, &input->replicas[slot]) == GODWIT_OK) {
        keep(input, input->replicas[slot], 'r');
      }
      break;
    }
    case 1: many % 8 == 1 ? godwit_interrupt(object) : godwit_status(object, many % 4 == 0 ? NULL : &json); break;
    case 2: case 3: case 4: case 5:
      godwit_begin(object, (int)(many % 3), (godwit_transaction **)&made);
      keep(input, made, 't');
      break;
    case 6: godwit_commit(object); break;
    case 7: godwit_rollback(object); break;
    case 8: case 9: godwit_execute(object, text(input), values, many % 4, many % 2 == 0 ? NULL : &changed); break;
    case 37: godwit_execute_many(object, text(input), values, many % 2, many % 3, &changed); break;
    case 10: case 11:
      godwit_query(object, text(input), values, many % 4, (godwit_rows **)&made);
      keep(input, made, 'o');
      break;
    case 12: case 13: use_rows(input, object); break;
    case 14: godwit_rows_close(object); break;
    case 15: godwit_put(object, text(input), text(input), text(input), many % 4 == 0 ? (int64_t)many << 33 : 0); break;
    case 16: godwit_merge(object, text(input), text(input), text(input)); break;
    case 17: godwit_get(object, text(input), text(input), &json); break;
    case 18: godwit_delete(object, text(input), text(input), &number); break;
    case 19:
      godwit_find(object, text(input), text(input), text(input), many, (godwit_rows **)&made);
      keep(input, made, 'o');
      break;
    case 20:
      godwit_cache_open(object, text(input), many % 2 == 0 ? 0 : 1000, many % 3, (godwit_cache **)&made);
      keep(input, made, 'c');
      break;
    case 21: godwit_cache_set(object, text(input), values, many % sizeof values, (int64_t)many - 2); break;
    case 22:
      godwit_cache_get(object, text(input), &place, many % 3 == 0 ? NULL : &length);
      godwit_free(place);
      break;
    case 23: godwit_cache_remove(object, text(input)); break;
    case 24: godwit_cache_clear(object); break;
    case 25: godwit_cache_close(object); break;
    case 26: godwit_export(object, path(input), text(input), (int)(many % 9), &json); break;
    case 27: godwit_import(object, path(input), (int)(many % 9), &json); break;
    case 28: godwit_remote_add(object, text(input), many % 2 == 0 ? path(input) : text(input)); break;
    case 29: godwit_remote_remove(object, text(input)); break;
    case 30: godwit_remotes(object, &json); break;
    case 31: godwit_sync(object, text(input), (int)(many % 17), &json); break;
    case 32: godwit_conflicts(object, many, &json); break;
    case 33: godwit_conflict_restore(object, many, &number); break;
    case 34:
      godwit_watch_open(object, many % 2 == 0 ? NULL : names, many % 3, &descriptor, (godwit_watch **)&made);
      keep(input, made, 'w');
      break;
    case 36:
      if (many % 4 == 0) close_replica(input, object);
      break;
    case 35: many % 2 == 0 ? godwit_watch_clear(object, &number) : godwit_watch_close(object); break;
  }
  godwit_free(json);
  if (godwit_last_error() != NULL) REQUIRE(godwit_last_error()->message != NULL);
}

static void *some_calls(void *input) {
  unsigned count = take(input) % 4;
  while (count-- > 0) one_call(input);
  return NULL;
}

static void one_input(const uint8_t *bytes, size_t count) {
  struct input input;
  int index = 0;

  memset(&input, 0, sizeof input);
  input.bytes = bytes;
  input.count = count;
  godwit_options options = GODWIT_OPTIONS;
  options.migrations = NOTES;
  options.busy_milliseconds = 20;
  OK(godwit_open(below(folder, "notes-0"), &options, &input.replicas[0]));
  keep(&input, input.replicas[0], 'r');
  for (index = 0; index < CALLS && input.count > 0; index++) {
    if (take(&input) % 8 == 0) {
      pthread_t thread;
      REQUIRE(pthread_create(&thread, NULL, some_calls, &input) == 0);
      REQUIRE(pthread_join(thread, NULL) == 0);
    } else {
      one_call(&input);
    }
  }
  /* What is open is open still, and ends. */
  for (index = 0; index < input.begun_count; index++) godwit_rollback(input.begun[index]);
  for (index = 0; index < REPLICAS; index++) {
    if (input.replicas[index] == NULL) continue;
    OK(godwit_close(input.replicas[index]));
    FAILS(GODWIT_MISUSE, godwit_close(input.replicas[index]));
  }
}

int main(int count, char **arguments) {
  unsigned long seed = 0, first = 0, last = 0;
  REQUIRE(count == 4);
  folder = arguments[3];
  first = strtoul(arguments[1], NULL, 10);
  last = first + strtoul(arguments[2], NULL, 10);
  REQUIRE(mkdir(below(folder, "remote"), 0700) == 0);
  /* Some of the texts are relative paths, and a remote that is added is made. */
  REQUIRE(chdir(folder) == 0);
  signal(SIGPIPE, SIG_IGN);
  for (seed = first; seed < last; seed++) {
    uint8_t bytes[2048];
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    size_t index = 0;
    for (index = 0; index < sizeof bytes; index++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      bytes[index] = (uint8_t)(state >> 32);
    }
    printf("\rseed %lu ", seed);
    fflush(stdout);
    one_input(bytes, sizeof bytes);
  }
  printf("\r%lu worlds of calls\n", seed - first);
  return 0;
}

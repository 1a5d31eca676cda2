/*
 * Memory and descriptors that calls take are given back: more rounds of them leave what the first ones left.
 * `leaks FOLDER`, an empty one.
 */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <limits.h>
#include <malloc.h>

enum { ROUNDS = 1000 };

static size_t descriptors(void) {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  REQUIRE(folder != NULL);
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count;
}

static void take(char *text) {
  REQUIRE(text != NULL);
  godwit_free(text);
}

static void read_all(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  const godwit_value *row;
  char *text = NULL;

  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  godwit_value none = text_value("none");
  OK(godwit_query(transaction, "SELECT id, title FROM note WHERE id <> ?", &none, 1, &rows));
  while (godwit_next(rows, &row) == GODWIT_ROW) REQUIRE(row[1].length > 0);
  OK(godwit_rows_close(rows));
  OK(godwit_find(transaction, "people", "age > 30", NULL, 0, &rows));
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW && godwit_column_name(rows, 1) != NULL);
  OK(godwit_get(transaction, "people", "ada", &text));
  take(text);
  OK(godwit_rollback(transaction));
}

static void write_nothing(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  int was_there = 0;

  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "UPDATE note SET title = 'other'", NULL, 0, NULL));
  OK(godwit_put(transaction, "people", "ada", "{\"age\": 37}", 0));
  OK(godwit_merge(transaction, "people", "ada", "{\"name\": \"Ada\"}"));
  OK(godwit_delete(transaction, "people", "ada", &was_there));
  FAILS(GODWIT_CONSTRAINT, godwit_execute(transaction, "INSERT INTO note (id) SELECT id FROM note", NULL, 0, NULL));
  OK(godwit_rollback(transaction));
}

static void look(godwit_replica *replica, godwit_cache *cache) {
  char *text = NULL;
  void *bytes = NULL;
  size_t length = 0;
  int descriptor = -1;
  godwit_watch *watch = NULL;

  OK(godwit_status(replica, &text));
  take(text);
  OK(godwit_remotes(replica, &text));
  take(text);
  OK(godwit_conflicts(replica, 10, &text));
  take(text);
  OK(godwit_cache_get(cache, "key", &bytes, &length));
  REQUIRE(length == 5);
  godwit_free(bytes);
  OK(godwit_watch_open(replica, NULL, 0, &descriptor, &watch));
  OK(godwit_watch_close(watch));
  FAILS(GODWIT_MISUSE, godwit_watch_close(watch));
  godwit_free(godwit_copy_error());
  godwit_options options = GODWIT_OPTIONS;
  godwit_replica *other = NULL;
  options.must_exist = 1;
  FAILS(GODWIT_NO_REPLICA, godwit_open("/nonexistent/godwit", &options, &other));
}

static void rounds(godwit_replica *replica, godwit_cache *cache, int count) {
  for (int number = 0; number < count; number++) {
    read_all(replica);
    write_nothing(replica);
    look(replica, cache);
  }
}

/* The least memory that was in use between rounds: what threads of the library do meanwhile only adds to it. */
static long least(godwit_replica *replica, godwit_cache *cache) {
  long least = LONG_MAX;
  for (int number = 0; number < ROUNDS; number += 50) {
    rounds(replica, cache, 50);
    long used = (long)mallinfo2().uordblks;
    if (used < least) least = used;
  }
  return least;
}

int main(int count, char *arguments[]) {
  REQUIRE(count == 2);
  /* All memory is counted, whichever thread takes it. */
  REQUIRE(mallopt(M_ARENA_MAX, 1) == 1);
  godwit_replica *replica = open_notes(below(arguments[1], "notes"));
  godwit_transaction *transaction = NULL;
  godwit_cache *cache = NULL;

  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "INSERT INTO note (id, title) VALUES ('a', 'text')", NULL, 0, NULL));
  OK(godwit_put(transaction, "people", "ada", "{\"age\": 36}", 0));
  OK(godwit_commit(transaction));
  OK(godwit_cache_open(replica, "c", 0, 0, &cache));
  OK(godwit_cache_set(cache, "key", "bytes", 5, 0));
  /* Until then threads and caches of the library's own still take room. */
  rounds(replica, cache, 500);
  size_t open = descriptors();
  long first = least(replica, cache), second = least(replica, cache);
  printf("%d rounds of calls left %ld bytes and %ld descriptors\n", ROUNDS, second - first,
         (long)descriptors() - (long)open);
  REQUIRE(second - first < 128 * ROUNDS && descriptors() <= open + 2);
  OK(godwit_close(replica));
  return 0;
}

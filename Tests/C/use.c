/* All functions of godwit.h, as they are meant to be used. `use FOLDER`, an empty one. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

static void write_and_read(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  const godwit_value *row = NULL;
  int64_t changed = 0;
  const unsigned char image[] = {0, 1, 2, 0};
  godwit_value values[5] = {text_value("n1"), text_value("Gr\xc3\xbc\xc3\x9f" "e"), real_value(4.5),
                            integer_value(INT64_MIN), bytes_value(GODWIT_BLOB, image, sizeof image)};
  godwit_value empty[5] = {text_value("n2"), text_value(""), integer_value(0), integer_value(7),
                           bytes_value(GODWIT_BLOB, "", 0)};
  empty[2].type = GODWIT_NULL;

  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "INSERT INTO note VALUES (?, ?, ?, ?, ?)", values, 5, &changed));
  REQUIRE(changed == 1);
  OK(godwit_execute(transaction, "INSERT INTO note VALUES (?, ?, ?, ?, ?)", empty, 5, NULL));
  /* What fails leaves nothing behind, and the transaction continues. */
  FAILS(GODWIT_CONSTRAINT, godwit_execute(transaction, "INSERT INTO note (id) VALUES ('n1')", NULL, 0, &changed));
  REQUIRE(changed == 0);
  /* Many rows at once: all, or none. */
  godwit_value many[6] = {text_value("m1"), integer_value(1), text_value("m2"),
                          integer_value(2), text_value("m1"), integer_value(3)};
  FAILS(GODWIT_CONSTRAINT,
        godwit_execute_many(transaction, "INSERT INTO note (id, count) VALUES (?, ?)", many, 2, 3, &changed));
  OK(godwit_execute_many(transaction, "INSERT INTO note (id, count) VALUES (?, ?)", many, 2, 2, &changed));
  REQUIRE(changed == 2);
  OK(godwit_execute_many(transaction, "DELETE FROM note WHERE id = ? AND count = ?", many, 2, 3, &changed));
  REQUIRE(changed == 2);
  OK(godwit_execute_many(transaction, "DELETE FROM note", NULL, 0, 0, &changed));
  REQUIRE(changed == 0);
  OK(godwit_commit(transaction));

  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  OK(godwit_query(transaction, "SELECT title, stars, count, image, length(title) AS n FROM note ORDER BY id", NULL, 0,
                  &rows));
  REQUIRE(godwit_column_count(rows) == 5);
  REQUIRE(strcmp(godwit_column_name(rows, 4), "n") == 0);
  REQUIRE(godwit_column_name(rows, 5) == NULL);
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW);
  REQUIRE(row[0].type == GODWIT_TEXT && row[0].length == 7 && strcmp(row[0].bytes, "Gr\xc3\xbc\xc3\x9f" "e") == 0);
  REQUIRE(row[1].type == GODWIT_REAL && row[1].real == 4.5);
  REQUIRE(row[2].type == GODWIT_INTEGER && row[2].integer == INT64_MIN);
  REQUIRE(row[3].type == GODWIT_BLOB && row[3].length == 4 && memcmp(row[3].bytes, image, 4) == 0);
  REQUIRE(row[4].integer == 5);
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW);
  REQUIRE(row[0].type == GODWIT_TEXT && row[0].length == 0 && ((const char *)row[0].bytes)[0] == 0);
  REQUIRE(row[1].type == GODWIT_NULL && row[3].type == GODWIT_BLOB && row[3].length == 0);
  REQUIRE(godwit_next(rows, &row) == GODWIT_DONE);
  REQUIRE(row == NULL);
  REQUIRE(godwit_next(rows, &row) == GODWIT_DONE);
  OK(godwit_rows_close(rows));
  OK(godwit_rollback(transaction));

  /* Taken back. */
  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "DELETE FROM note", NULL, 0, &changed));
  REQUIRE(changed == 2);
  OK(godwit_rollback(transaction));
  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  OK(godwit_query(transaction, "SELECT count(*) FROM note", NULL, 0, &rows));
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW && row[0].integer == 2);
  OK(godwit_commit(transaction));
}

static void documents(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  const godwit_value *row = NULL;
  char *json = NULL;
  int deleted = 0;

  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_put(transaction, "people", "ada", "{\"name\": \"Ada\", \"age\": 36}", 0));
  OK(godwit_put(transaction, "people", "bob", "{\"name\": \"Bob\", \"age\": 20}", 4102444800000));
  OK(godwit_merge(transaction, "people", "ada", "{\"city\": \"London\"}"));
  OK(godwit_get(transaction, "people", "ada", &json));
  REQUIRE(strcmp(json, "{\"age\":36,\"city\":\"London\",\"name\":\"Ada\"}") == 0);
  godwit_free(json);
  OK(godwit_get(transaction, "people", "eve", &json));
  REQUIRE(json == NULL);
  FAILS(GODWIT_INVALID_DOCUMENT, godwit_put(transaction, "people", "eve", "[1]", 0));
  OK(godwit_find(transaction, "people", "age > 10", "age", 1, &rows));
  REQUIRE(godwit_column_count(rows) == 2 && strcmp(godwit_column_name(rows, 1), "json") == 0);
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW && strcmp(row[0].bytes, "bob") == 0);
  REQUIRE(strstr(row[1].bytes, "\"Bob\"") != NULL);
  REQUIRE(godwit_next(rows, &row) == GODWIT_DONE);
  OK(godwit_rows_close(rows));
  FAILS(GODWIT_INVALID_ARGUMENT, godwit_find(transaction, "people", "age >", NULL, 0, &rows));
  OK(godwit_delete(transaction, "people", "bob", &deleted));
  REQUIRE(deleted == 1);
  OK(godwit_delete(transaction, "people", "bob", &deleted));
  REQUIRE(deleted == 0);
  OK(godwit_commit(transaction));
}

static void cache(godwit_replica *replica) {
  godwit_cache *cache = NULL;
  void *bytes = NULL;
  size_t length = 9;

  OK(godwit_cache_open(replica, "thumbs", 1 << 20, 0, &cache));
  OK(godwit_cache_set(cache, "a", "1\0" "2", 3, 0));
  OK(godwit_cache_set(cache, "empty", NULL, 0, 60000));
  OK(godwit_cache_get(cache, "a", &bytes, &length));
  REQUIRE(length == 3 && memcmp(bytes, "1\0" "2", 3) == 0);
  godwit_free(bytes);
  OK(godwit_cache_get(cache, "empty", &bytes, &length));
  REQUIRE(bytes != NULL && length == 0);
  godwit_free(bytes);
  OK(godwit_cache_remove(cache, "a"));
  OK(godwit_cache_get(cache, "a", &bytes, &length));
  REQUIRE(bytes == NULL && length == 0);
  OK(godwit_cache_clear(cache));
  OK(godwit_cache_get(cache, "empty", &bytes, NULL));
  REQUIRE(bytes == NULL);
  OK(godwit_cache_close(cache));
  FAILS(GODWIT_INVALID_ARGUMENT, godwit_cache_open(replica, "No.Name", 0, 0, &cache));
}

/* Watches tables; the one that this returns is open still. */
static godwit_watch *watch(godwit_replica *replica, struct pollfd *left) {
  godwit_watch *notes = NULL, *all = NULL;
  const char *const tables[] = {"note"};
  struct pollfd polled[2];
  int changed = 1;
  godwit_transaction *transaction = NULL;

  memset(polled, 0, sizeof polled);
  OK(godwit_watch_open(replica, tables, 1, &polled[0].fd, &notes));
  OK(godwit_watch_open(replica, NULL, 0, &polled[1].fd, &all));
  polled[0].events = polled[1].events = POLLIN;
  REQUIRE(poll(polled, 1, 100) == 0);
  OK(godwit_watch_clear(notes, &changed));
  REQUIRE(changed == 0);
  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "UPDATE note SET count = count + 1 WHERE id = 'n2'", NULL, 0, NULL));
  OK(godwit_commit(transaction));
  REQUIRE(poll(polled, 1, 5000) == 1);
  REQUIRE(poll(polled + 1, 1, 5000) == 1);
  OK(godwit_watch_clear(notes, &changed));
  REQUIRE(changed == 1);
  REQUIRE(poll(polled, 1, 0) == 0);
  OK(godwit_watch_close(notes));
  /* What is written at once after the watch has begun is noticed. */
  OK(godwit_watch_open(replica, tables, 1, &polled[0].fd, &notes));
  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "UPDATE note SET count = count + 1 WHERE id = 'n2'", NULL, 0, NULL));
  OK(godwit_commit(transaction));
  REQUIRE(poll(polled, 1, 5000) == 1);
  OK(godwit_watch_close(notes));
  OK(godwit_watch_clear(all, NULL));
  *left = polled[1];
  return all;
}

static void exchange(godwit_replica *replica, const char *folder) {
  char *json = NULL;
  int written = 1;

  OK(godwit_status(replica, &json));
  REQUIRE(strstr(json, "\"unsent\":") != NULL);
  godwit_free(json);
  OK(godwit_export(replica, below(folder, "all.godwit-sync"), NULL, GODWIT_ALL, &json));
  REQUIRE(strstr(json, "\"recipients\":1") != NULL);
  godwit_free(json);
  OK(godwit_export(replica, below(folder, "state.godwit-sync"), NULL, GODWIT_STATE, NULL));
  OK(godwit_import(replica, below(folder, "all.godwit-sync"), 0, &json));
  REQUIRE(strstr(json, "\"applied\":0") != NULL);
  godwit_free(json);
  FAILS(GODWIT_FILE_ACCESS, godwit_import(replica, below(folder, "none"), 0, &json));
  REQUIRE(json == NULL);

  FAILS(GODWIT_UNREACHABLE, godwit_remote_add(replica, "home", below(folder, "media/remote")));
  OK(godwit_remote_add(replica, "home", below(folder, "remote")));
  OK(godwit_sync(replica, NULL, 0, &json));
  REQUIRE(json[0] == '[' && strstr(json, "\"remote\":\"home\"") != NULL && strstr(json, "\"error\":null") != NULL);
  godwit_free(json);
  OK(godwit_remotes(replica, &json));
  REQUIRE(strstr(json, "\"name\":\"home\"") != NULL);
  godwit_free(json);
  OK(godwit_remote_remove(replica, "home"));
  FAILS(GODWIT_INVALID_ARGUMENT, godwit_sync(replica, "home", 0, &json));

  OK(godwit_conflicts(replica, 50, &json));
  REQUIRE(strcmp(json, "[]") == 0);
  godwit_free(json);
  FAILS(GODWIT_NOT_FOUND, godwit_conflict_restore(replica, 12, &written));
  REQUIRE(written == 0);
}

int main(int count, char **arguments) {
  REQUIRE(count == 2);
  REQUIRE(strlen(godwit_version()) > 0);
  REQUIRE(godwit_last_error() == NULL);
  const char *path = below(arguments[1], "notes");
  godwit_replica *replica = open_notes(path);
  write_and_read(replica);
  documents(replica);
  cache(replica);
  struct pollfd left;
  godwit_watch *watched = watch(replica, &left);
  exchange(replica, arguments[1]);
  OK(godwit_watch_clear(watched, NULL));
  OK(godwit_close(replica));
  REQUIRE(poll(&left, 1, 5000) == 1);
  FAILS(GODWIT_CLOSED, godwit_watch_clear(watched, NULL));
  OK(godwit_watch_close(watched));
  FAILS(GODWIT_MISUSE, godwit_watch_close(watched));
  REQUIRE(fcntl(left.fd, F_GETFD) == -1 && errno == EBADF);

  godwit_options options = GODWIT_OPTIONS;
  godwit_transaction *transaction = NULL;
  options.must_exist = options.read_only = 1;
  FAILS(GODWIT_NO_REPLICA, godwit_open(below(arguments[1], "nothing"), &options, &replica));
  REQUIRE(replica == NULL);
  options.migrations = NOTES;
  OK(godwit_open(path, &options, &replica));
  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  OK(godwit_commit(transaction));
  FAILS(GODWIT_READ_ONLY, godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_close(replica));
  OK(godwit_close(NULL));
  puts("used");
  return 0;
}

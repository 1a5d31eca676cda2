/* What godwit.h forbids gives GODWIT_MISUSE and harms nothing. `misuse FOLDER`, an empty one. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define BY_ID "DELETE FROM note WHERE id = ?"

static void null_pointers(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  godwit_value value = text_value("x");

  FAILS(GODWIT_MISUSE, godwit_open(NULL, NULL, &replica));
  FAILS(GODWIT_MISUSE, godwit_open("notes", NULL, NULL));
  FAILS(GODWIT_MISUSE, godwit_status(NULL, NULL));
  FAILS(GODWIT_MISUSE, godwit_interrupt(NULL));
  FAILS(GODWIT_MISUSE, godwit_begin(NULL, GODWIT_READ, &transaction));
  FAILS(GODWIT_MISUSE, godwit_commit(NULL));
  FAILS(GODWIT_MISUSE, godwit_execute(NULL, "SELECT 1", NULL, 0, NULL));
  FAILS(GODWIT_MISUSE, godwit_query(NULL, "SELECT 1", NULL, 0, &rows));
  FAILS(GODWIT_MISUSE, godwit_next(NULL, NULL));
  REQUIRE(godwit_column_count(NULL) == 0 && godwit_column_name(NULL, 0) == NULL);
  FAILS(GODWIT_MISUSE, godwit_cache_set(NULL, "a", "b", 1, 0));
  FAILS(GODWIT_MISUSE, godwit_watch_clear(NULL, NULL));
  FAILS(GODWIT_MISUSE, godwit_export(NULL, "a", NULL, 0, NULL));
  godwit_free(NULL);
  (void)value;
}

/* What was copied stays as it is while others fail. */
static void copied_error(void) {
  godwit_error *copy = NULL;

  FAILS(GODWIT_MISUSE, godwit_commit(NULL));
  copy = godwit_copy_error();
  FAILS(GODWIT_MISUSE, godwit_open("notes", NULL, NULL));
  REQUIRE(copy != NULL && copy->size == sizeof(godwit_error) && copy->code == GODWIT_MISUSE && copy->hint == NULL);
  REQUIRE(strcmp(copy->name, "misuse") == 0 && strlen(copy->message) > 0);
  REQUIRE(strcmp(copy->message, godwit_last_error()->message) != 0);
  godwit_free(copy);
}

static void wrong_arguments(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  godwit_value value = text_value("\xff\xfe");

  FAILS(GODWIT_MISUSE, godwit_begin(replica, 7, &transaction));
  FAILS(GODWIT_MISUSE, godwit_begin(replica, GODWIT_READ, NULL));
  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  FAILS(GODWIT_BUSY, godwit_begin(replica, GODWIT_WRITE, (godwit_transaction **)&rows));
  FAILS(GODWIT_BUSY, godwit_close(replica));
  FAILS(GODWIT_BUSY, godwit_export(replica, "x", NULL, 0, NULL));
  FAILS(GODWIT_BUSY, godwit_conflict_restore(replica, 1, NULL));
  const char *const watched[] = {"note"};
  int descriptor;
  godwit_watch *watch;
  FAILS(GODWIT_BUSY, godwit_watch_open(replica, watched, 1, &descriptor, &watch));
  FAILS(GODWIT_MISUSE, godwit_watch_open(replica, watched, (size_t)-1, &descriptor, &watch));
  FAILS(GODWIT_MISUSE, godwit_watch_open(replica, watched, (size_t)1 << 60, &descriptor, &watch));
  REQUIRE(descriptor == -1 && watch == NULL);
  /* A fifth reader would wait for this thread's own. */
  godwit_transaction *readers[4] = {NULL};
  for (int place = 0; place < 4; place++) OK(godwit_begin(replica, GODWIT_READ, &readers[place]));
  FAILS(GODWIT_BUSY, godwit_begin(replica, GODWIT_READ, (godwit_transaction **)&rows));
  REQUIRE(strstr(godwit_last_error()->message, "this thread has 4 transactions") != NULL);
  for (int place = 0; place < 4; place++) OK(godwit_rollback(readers[place]));
  FAILS(GODWIT_INVALID_ARGUMENT, godwit_execute(transaction, "\xff", NULL, 0, NULL));
  FAILS(GODWIT_INVALID_ARGUMENT, godwit_execute(transaction, BY_ID, &value, 1, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute(transaction, BY_ID, NULL, 1, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute_many(transaction, BY_ID, &value, (size_t)-1, 1, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute_many(transaction, BY_ID, &value, SIZE_MAX / 4, 9, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute_many(transaction, "DELETE FROM note", NULL, 0, (size_t)1 << 60, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute_many(transaction, BY_ID, &value, 1, (size_t)1 << 60, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute(transaction, BY_ID, &value, (size_t)1 << 60, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute(transaction, "DELETE FROM note", &value, (size_t)-1, NULL));
  FAILS(GODWIT_MISUSE, godwit_execute_many(transaction, BY_ID, NULL, 1, 1, NULL));
  FAILS(GODWIT_INVALID_ARGUMENT, godwit_execute(transaction, "SELECT 1", NULL, 0, NULL));
  value.type = 9;
  FAILS(GODWIT_MISUSE, godwit_execute(transaction, BY_ID, &value, 1, NULL));
  value = bytes_value(GODWIT_BLOB, NULL, 3);
  FAILS(GODWIT_MISUSE, godwit_execute(transaction, BY_ID, &value, 1, NULL));
  FAILS(GODWIT_SQL, godwit_query(transaction, "SELECT nonsense", NULL, 0, &rows));
  REQUIRE(rows == NULL);
  FAILS(GODWIT_SQL, godwit_query(transaction, "SELECT ?", NULL, 0, &rows));
  FAILS(GODWIT_NOT_AUTHORIZED, godwit_query(transaction, "DELETE FROM note", NULL, 0, &rows));
  FAILS(GODWIT_NOT_AUTHORIZED, godwit_execute(transaction, "DELETE FROM godwit_log", NULL, 0, NULL));
  FAILS(GODWIT_MISUSE, godwit_put(transaction, NULL, "a", "{}", 0));
  FAILS(GODWIT_MISUSE, godwit_find(transaction, "people", NULL, NULL, (size_t)-1, &rows));
  OK(godwit_rollback(transaction));
  FAILS(GODWIT_MISUSE, godwit_export(replica, "a", NULL, 64, NULL));

  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  FAILS(GODWIT_READ_ONLY, godwit_execute(transaction, "DELETE FROM note", NULL, 0, NULL));
  OK(godwit_commit(transaction));

  godwit_options options = GODWIT_OPTIONS;
  godwit_replica *other = NULL;
  options.size = 12;
  FAILS(GODWIT_MISUSE, godwit_open("x", &options, &other));
  options.size = 0;
  FAILS(GODWIT_MISUSE, godwit_open("x", &options, &other));
  options.size = sizeof options + 8;
  FAILS(GODWIT_UNSUPPORTED_VERSION, godwit_open("x", &options, &other));
}

static void dead_handles(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  const godwit_value *row = NULL;
  int on_stack = 0;

  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  OK(godwit_query(transaction, "SELECT 1", NULL, 0, &rows));
  /* A handle of another kind, an address, a small number. */
  FAILS(GODWIT_MISUSE, godwit_status((godwit_replica *)transaction, (char **)&row));
  FAILS(GODWIT_MISUSE, godwit_next((godwit_rows *)transaction, &row));
  FAILS(GODWIT_MISUSE, godwit_commit((godwit_transaction *)&on_stack));
  FAILS(GODWIT_MISUSE, godwit_commit((godwit_transaction *)(uintptr_t)3));
  OK(godwit_commit(transaction));
  /* The transaction has ended, and its rows with it. */
  FAILS(GODWIT_MISUSE, godwit_commit(transaction));
  FAILS(GODWIT_MISUSE, godwit_rollback(transaction));
  FAILS(GODWIT_MISUSE, godwit_next(rows, &row));
  FAILS(GODWIT_MISUSE, godwit_rows_close(rows));
}

static void *use_in_another_thread(void *transaction) {
  REQUIRE(godwit_last_error() == NULL && godwit_copy_error() == NULL);
  FAILS(GODWIT_MISUSE, godwit_execute(transaction, "DELETE FROM note", NULL, 0, NULL));
  FAILS(GODWIT_MISUSE, godwit_commit(transaction));
  return NULL;
}

static void *begin_and_end(void *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;

  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "INSERT INTO note (id) VALUES ('lost')", NULL, 0, NULL));
  OK(godwit_query(transaction, "SELECT 1", NULL, 0, &rows));
  return transaction;
}

/* A thread ends and leaves a transaction open: it is rolled back, and others need not wait for it. */
static void thread_that_ends(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  const godwit_value *row = NULL;
  pthread_t thread;
  void *left = NULL;

  REQUIRE(pthread_create(&thread, NULL, begin_and_end, replica) == 0);
  REQUIRE(pthread_join(thread, &left) == 0);
  FAILS(GODWIT_MISUSE, godwit_commit(left));
  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  OK(godwit_query(transaction, "SELECT count(*) FROM note WHERE id = 'lost'", NULL, 0, &rows));
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW && row[0].integer == 0);
  OK(godwit_rollback(transaction));
}

static void another_thread(godwit_replica *replica) {
  godwit_transaction *transaction = NULL;
  pthread_t thread;

  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  REQUIRE(pthread_create(&thread, NULL, use_in_another_thread, transaction) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  OK(godwit_commit(transaction));
}

/* A child has none of the library's threads: it refuses, and the child exits in peace. */
static void fork_after_open(godwit_replica *replica) {
  char *json = NULL;
  int status = 0;
  fflush(stdout);
  pid_t child = fork();

  REQUIRE(child >= 0);
  if (child == 0) {
    godwit_replica *own = (godwit_replica *)&status;
    json = (char *)&status;
    FAILS(GODWIT_FORKED, godwit_status(replica, &json));
    FAILS(GODWIT_FORKED, godwit_open("elsewhere", NULL, &own));
    REQUIRE(json == NULL && own == NULL);
    FAILS(GODWIT_FORKED, godwit_close(replica));
    exit(0);
  }
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(godwit_status(replica, &json));
  godwit_free(json);
}

/* A process that forks before it opens anything uses the library in each child. */
static void fork_before_open(const char *folder) {
  int index = 0;

  for (index = 0; index < 2; index++) {
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      OK(godwit_close(open_notes(below(folder, index == 0 ? "first" : "second"))));
      exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

int main(int count, char **arguments) {
  REQUIRE(count == 2);
  fork_before_open(arguments[1]);
  godwit_replica *replica = open_notes(below(arguments[1], "notes"));
  godwit_replica *left = open_notes(below(arguments[1], "left"));
  godwit_transaction *transaction = NULL;
  char *json = NULL;

  null_pointers(replica);
  copied_error();
  wrong_arguments(replica);
  dead_handles(replica);
  another_thread(replica);
  thread_that_ends(replica);
  fork_after_open(replica);
  OK(godwit_close(replica));
  FAILS(GODWIT_MISUSE, godwit_status(replica, &json));
  FAILS(GODWIT_MISUSE, godwit_close(replica));

  /* The process exits with a replica open and a transaction that writes: it is rolled back. */
  OK(godwit_begin(left, GODWIT_WRITE, &transaction));
  OK(godwit_execute(transaction, "INSERT INTO note (id) VALUES ('lost')", NULL, 0, NULL));
  puts("misused");
  return 0;
}

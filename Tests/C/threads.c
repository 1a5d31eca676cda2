/*
 * Eight threads read and write one replica; then one takes back what another has begun, and breaks off what it does.
 * `threads FOLDER`, an empty one.
 */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 20 };

static godwit_replica *replica;

static void *work(void *argument) {
  long thread = (long)argument;
  int round = 0;

  for (round = 0; round < ROUNDS; round++) {
    godwit_transaction *transaction = NULL;
    godwit_rows *rows = NULL;
    const godwit_value *row = NULL;
    char id[32];
    godwit_value values[2];

    snprintf(id, sizeof id, "%ld-%d", thread, round);
    values[0] = text_value(id);
    values[1] = integer_value(round);
    OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
    OK(godwit_execute(transaction, "INSERT INTO note (id, count) VALUES (?, ?)", values, 2, NULL));
    OK(round % 5 == 4 ? godwit_rollback(transaction) : godwit_commit(transaction));

    OK(godwit_begin(replica, GODWIT_READ, &transaction));
    OK(godwit_query(transaction, "SELECT count(*) FROM note WHERE id LIKE ? || '-%'", values, 1, &rows));
    REQUIRE(godwit_next(rows, &row) == GODWIT_ROW);
    OK(godwit_commit(transaction));
    /* Each thread has its own latest failure. */
    FAILS(GODWIT_MISUSE, godwit_begin(replica, 10 + (int)thread, &transaction));
    snprintf(id, sizeof id, "%ld is", 10 + thread);
    REQUIRE(strstr(godwit_last_error()->message, id) == godwit_last_error()->message);
  }
  return NULL;
}

/* Begins a transaction, reads a row of it, and waits for another thread to take both. */
static pthread_barrier_t meeting;
static godwit_transaction *lost;
static godwit_rows *lost_rows;

static void *leave(void *argument) {
  const godwit_value *row = NULL;

  OK(godwit_begin(replica, GODWIT_WRITE, &lost));
  OK(godwit_execute(lost, "INSERT INTO note (id, count) VALUES ('lost', 1)", NULL, 0, NULL));
  OK(godwit_query(lost, "SELECT id FROM note", NULL, 0, &lost_rows));
  REQUIRE(godwit_next(lost_rows, &row) == GODWIT_ROW);
  pthread_barrier_wait(&meeting);
  pthread_barrier_wait(&meeting);
  FAILS(GODWIT_MISUSE, godwit_execute(lost, "DELETE FROM note", NULL, 0, NULL));
  FAILS(GODWIT_MISUSE, godwit_commit(lost));
  return argument;
}

static void take_back(void) {
  pthread_t thread;

  REQUIRE(pthread_barrier_init(&meeting, NULL, 2) == 0);
  REQUIRE(pthread_create(&thread, NULL, leave, NULL) == 0);
  pthread_barrier_wait(&meeting);
  FAILS(GODWIT_MISUSE, godwit_commit(lost));
  FAILS(GODWIT_MISUSE, godwit_rollback(lost));
  OK(godwit_rows_close(lost_rows));
  OK(godwit_rollback(lost));
  pthread_barrier_wait(&meeting);
  REQUIRE(pthread_join(thread, NULL) == 0);
}

static void *count_for_ever(void *argument) {
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  const godwit_value *row = NULL;

  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  OK(godwit_query(transaction, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", NULL,
                  0, &rows));
  pthread_barrier_wait(&meeting);
  FAILS(GODWIT_CANCELLED, godwit_next(rows, &row));
  OK(godwit_rollback(transaction));
  return argument;
}

static void break_off(void) {
  pthread_t thread;

  REQUIRE(pthread_create(&thread, NULL, count_for_ever, NULL) == 0);
  pthread_barrier_wait(&meeting);
  usleep(20000);
  OK(godwit_interrupt(replica));
  REQUIRE(pthread_join(thread, NULL) == 0);
}

static void *wait_to_write(void *argument) {
  godwit_transaction *transaction = NULL;

  pthread_barrier_wait(&meeting);
  FAILS(GODWIT_CANCELLED, godwit_begin(replica, GODWIT_WRITE, &transaction));
  return argument;
}

static void *wait_for_status(void *argument) {
  char *json = NULL;

  pthread_barrier_wait(&meeting);
  FAILS(GODWIT_CANCELLED, godwit_status(replica, &json));
  return argument;
}

/* Those that wait for this thread's transaction would do so for two minutes. */
static void break_off_waiting(void) {
  pthread_t threads[2];
  godwit_transaction *transaction = NULL;

  OK(godwit_begin(replica, GODWIT_WRITE, &transaction));
  REQUIRE(pthread_barrier_destroy(&meeting) == 0 && pthread_barrier_init(&meeting, NULL, 3) == 0);
  REQUIRE(pthread_create(&threads[0], NULL, wait_to_write, NULL) == 0);
  REQUIRE(pthread_create(&threads[1], NULL, wait_for_status, NULL) == 0);
  pthread_barrier_wait(&meeting);
  usleep(200000);
  OK(godwit_interrupt(replica));
  REQUIRE(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
  OK(godwit_rollback(transaction));
}

int main(int count, char **arguments) {
  pthread_t threads[THREADS];
  godwit_transaction *transaction = NULL;
  godwit_rows *rows = NULL;
  const godwit_value *row = NULL;
  godwit_options options = GODWIT_OPTIONS;
  long thread = 0;

  REQUIRE(count == 2);
  options.migrations = NOTES;
  options.busy_milliseconds = 120000;
  OK(godwit_open(below(arguments[1], "notes"), &options, &replica));
  for (thread = 0; thread < THREADS; thread++) {
    REQUIRE(pthread_create(&threads[thread], NULL, work, (void *)thread) == 0);
  }
  for (thread = 0; thread < THREADS; thread++) REQUIRE(pthread_join(threads[thread], NULL) == 0);
  take_back();
  break_off();
  break_off_waiting();
  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  OK(godwit_query(transaction, "SELECT count(*) FROM note", NULL, 0, &rows));
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW && row[0].integer == THREADS * ROUNDS * 4 / 5);
  OK(godwit_commit(transaction));
  OK(godwit_close(replica));
  puts("together");
  return 0;
}

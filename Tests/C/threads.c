/* Eight threads read and write one replica. `threads FOLDER`, an empty one. */
#include "check.h"

#include <pthread.h>

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
  OK(godwit_begin(replica, GODWIT_READ, &transaction));
  OK(godwit_query(transaction, "SELECT count(*) FROM note", NULL, 0, &rows));
  REQUIRE(godwit_next(rows, &row) == GODWIT_ROW && row[0].integer == THREADS * ROUNDS * 4 / 5);
  OK(godwit_commit(transaction));
  OK(godwit_close(replica));
  puts("together");
  return 0;
}

/*
 * Godwit for C and for what calls C: encrypted data that works offline and agrees across machines.
 *
 * Every function but a few that say otherwise returns GODWIT_OK, or the code of a failure, of which godwit_last_error
 * has the message and a hint. After a failure what its function would have given is unset: pointers are NULL, numbers 0,
 * descriptors -1.
 *
 * Texts are UTF-8 that a NUL byte ends. What a function is given is copied, or used before it returns: it stays the
 * caller's. What a function gives through a `char **` or `void **` is the caller's, too, and goes back by godwit_free;
 * NULL may stand for the report of an export, import or sync that is not wanted. All else belongs to the library and lasts
 * for as long as its function says.
 *
 * Handles are no addresses of memory: one that is NULL, of another kind, closed, or no handle at all is GODWIT_MISUSE.
 * A transaction and its rows are used by the thread that began it; others may roll it back and close its rows. Replicas,
 * caches and watches are used by any number of threads at once. What a thread has begun and not ended is rolled back when
 * the thread ends.
 *
 * A process forks before its first godwit_open or long after its last need of the library: in the child of a process
 * that has opened a replica, every function is GODWIT_FORKED and touches nothing. What is open when a process exits is
 * rolled back and closed; a handler of a signal that ends the process calls _exit, for it may have broken into a call.
 *
 * The format of what is written, merged and carried is that of Godwit for Swift and of the program `godwit`, which use
 * the same replicas at the same time.
 */
#ifndef GODWIT_H
#define GODWIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ------------------------------------------------------------------------------------------------------ */

/* Done. */
#define GODWIT_OK 0
/* Of godwit_next: there is a row; there are no more. */
#define GODWIT_ROW 1
#define GODWIT_DONE 2

/* Failures. Numbers stay; later versions have more. */
#define GODWIT_FAILED 10               /* anything without a code of its own */
#define GODWIT_MISUSE 11               /* a pointer that must not be NULL, no open handle, another thread's */
#define GODWIT_FORKED 12               /* the process is a child of the one that opened a replica */
#define GODWIT_CANCELLED 13            /* the work was broken off */

#define GODWIT_FILE_ACCESS 20          /* a file or folder could not be read or written */
#define GODWIT_UNSAFE_FILE 21          /* a private file is readable by others, is a link, or is somebody else's */
#define GODWIT_DISK_FULL 22

#define GODWIT_NO_CIPHER 30            /* the SQLite library is not SQLCipher */
#define GODWIT_WRONG_KEY 31
#define GODWIT_PLAINTEXT_DATABASE 32
#define GODWIT_NOT_A_DATABASE 33
#define GODWIT_DAMAGED_DATABASE 34
#define GODWIT_BUSY 35                 /* somebody else writes, for longer than was to be waited */
#define GODWIT_CONSTRAINT 36           /* NOT NULL, UNIQUE, CHECK, a key or a reference refused a write */
#define GODWIT_SQL 37                  /* a statement does not compile or cannot run */
#define GODWIT_NOT_AUTHORIZED 38       /* the statement is not allowed here */
#define GODWIT_TRANSACTION_ENDED 39
#define GODWIT_CLOSED 40

#define GODWIT_VALUE_MISMATCH 50
#define GODWIT_VALUE_NOT_STORABLE 51   /* NaN */
#define GODWIT_INVALID_SCHEMA 52
#define GODWIT_SCHEMA_MISMATCH 53
#define GODWIT_NOT_IN_SCHEMA 54
#define GODWIT_UNTRANSLATABLE_PREDICATE 55
#define GODWIT_READ_ONLY 56
#define GODWIT_NOT_FOUND 57
#define GODWIT_VALIDATION_FAILED 58
#define GODWIT_HOOKS_TOO_DEEP 59
#define GODWIT_INVALID_DOCUMENT 60     /* not JSON of the kind that a collection takes */

#define GODWIT_NO_REPLICA 70
#define GODWIT_REPLICA_EXISTS 71
#define GODWIT_UNSENT_TRANSACTIONS 72
#define GODWIT_DAMAGED_LOG 73
#define GODWIT_NEEDS_MIGRATION 74
#define GODWIT_NEEDS_APPLICATION 75
#define GODWIT_MIGRATION_MISMATCH 76
#define GODWIT_INVALID_MIGRATION 77
#define GODWIT_IN_LIMBO 78
#define GODWIT_IMPORT_CONSTRAINT 79
#define GODWIT_FENCED 80               /* lacks what all others hold and have forgotten: import a whole state */

#define GODWIT_MISSING_KEYRING 90
#define GODWIT_NO_KEY_FITS 91
#define GODWIT_ROLLED_BACK_KEYRING 92
#define GODWIT_DAMAGED_KEYRING 93
#define GODWIT_INVALID_KEY 94
#define GODWIT_UNVERIFIED_IDENTITY 95

#define GODWIT_CORRUPT_FILE 100
#define GODWIT_TRUNCATED_FILE 101
#define GODWIT_NOT_A_RECIPIENT 102
#define GODWIT_INVALID_SIGNATURE 103
#define GODWIT_UNKNOWN_SENDER 104
#define GODWIT_UNKNOWN_BASE 105
#define GODWIT_OTHER_GROUP 106
#define GODWIT_UNSUPPORTED_VERSION 107
#define GODWIT_LIMIT_EXCEEDED 108

#define GODWIT_UNREACHABLE 120         /* a remote cannot be reached now: a later try may do */
#define GODWIT_REFUSED 121             /* a remote refuses: somebody has to change something first */

#define GODWIT_INVALID_ARGUMENT 130    /* an argument makes no sense; a text is not UTF-8 */

/* A failure. It belongs to the library and lasts until the next failure in the same thread. */
typedef struct godwit_error {
  size_t size;          /* of this struct in the library: later versions add members at its end */
  int code;             /* as the function returned it */
  const char *name;     /* the code in words: "noReplica" */
  const char *message;  /* what happened, for people */
  const char *hint;     /* what to do about it, or NULL */
} godwit_error;

/* The latest failure in this thread, or NULL when there was none. */
const godwit_error *godwit_last_error(void);

/*
 * A copy of it with its texts, which the caller gives back by godwit_free; NULL when there was none, or memory is full. For
 * languages whose runtimes may call the library at any time, in finalizers and in handlers of signals.
 */
godwit_error *godwit_copy_error(void);

/* ---- Library ---------------------------------------------------------------------------------------------------- */

/* The version of the library: "1.0.0". It is never freed. */
const char *godwit_version(void);

/* Gives back what a function gave through a `char **` or `void **`. NULL is ignored. */
void godwit_free(void *memory);

/* ---- Replicas --------------------------------------------------------------------------------------------------- */

/* One copy of a group's data. Used by any thread. */
typedef struct godwit_replica godwit_replica;

/* How a replica is opened. Begin with GODWIT_OPTIONS, which is every default, and set what differs. */
typedef struct godwit_options {
  size_t size;                 /* sizeof(godwit_options): a library that is newer knows by it what is not set */
  const char *name;            /* what a new replica is called among the members; NULL: as its folder */
  const char *keyring;         /* the keyring; NULL: `keyring` in the replica's folder */
  const char *machine_key;     /* the file with the key that opens it; NULL: see godwit_open */
  const char *passphrase_file; /* a file, or /dev/fd/N, with a passphrase that opens the keyring in place of it */
  const char *migrations;      /* the tables, version by version, as JSON (Specs/migration-forms.md); NULL: none */
  int must_exist;              /* 1: GODWIT_NO_REPLICA where there is none; 0: it is made */
  int read_only;               /* 1: whatever would write is GODWIT_READ_ONLY */
  int post_quantum;            /* 1: a new replica has hybrid keys, and so have all members of its group */
  int busy_milliseconds;       /* how long a transaction waits for others of this process to end; 0: 5,000. For
                                * another process it waits 5,000 at most, and they are not cut short */
} godwit_options;

#define GODWIT_OPTIONS {sizeof(godwit_options), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0}

/*
 * Opens the replica in a folder, or makes one there, as the first of a new group. One that the program `godwit` has made
 * lies in `.godwit` in its working folder, and is found there, too.
 *
 * Without `machine_key` the key is `machine.key` in the replica's folder, or, where a keyring has none beside it, that of
 * the user for all replicas of the program (`~/.config/godwit/machine.key`). Whoever has the folder and the key has the
 * data: name another place for the key of a folder that is copied or backed up.
 *
 * `options` may be NULL. The replica is the caller's until godwit_close.
 */
int godwit_open(const char *path, const godwit_options *options, godwit_replica **replica);

/*
 * Closes a replica, with its caches; its watches notice nothing more. GODWIT_BUSY, and nothing else, while a transaction
 * of it is open, or about to begin in another thread. Waits for what other threads do with the replica, and for what is
 * due of care, some milliseconds: no transaction begins meanwhile (GODWIT_CLOSED). NULL is ignored.
 */
int godwit_close(godwit_replica *replica);

/*
 * Breaks off what other threads do with the replica now, and those that wait for others of this process: their calls are
 * GODWIT_CANCELLED. A transaction that is open can only be rolled back; an exchange leaves what it had finished, and files
 * whole. What begins later is not touched. Not for handlers of signals: they wake a thread that calls it.
 */
int godwit_interrupt(godwit_replica *replica);

/* Where the replica stands, as one JSON object: what `godwit status --json` prints (Specs/cli/status.json). */
int godwit_status(godwit_replica *replica, char **json);

/* ---- Transactions ----------------------------------------------------------------------------------------------- */

/*
 * A transaction. Used by the thread that began it, until it is committed or rolled back. Until then what concerns the
 * whole replica (status, exchange, conflicts) is GODWIT_BUSY in this thread, and waits in others as long as
 * busy_milliseconds says.
 */
typedef struct godwit_transaction godwit_transaction;

#define GODWIT_READ 0   /* sees one state of the database, waits for nobody and holds nobody up */
#define GODWIT_WRITE 1  /* one at a time; what it writes becomes one transaction of the log */

/*
 * Begins a transaction. GODWIT_BUSY when others of this process, or another process, do not end theirs in time; at once
 * when this thread has a transaction of the replica that writes and asks for another. Four read transactions run at
 * once; a fifth waits for other threads', and is GODWIT_BUSY at once when the four are this thread's.
 */
int godwit_begin(godwit_replica *replica, int kind, godwit_transaction **transaction);

/* Ends a transaction, and its rows. When it fails nothing was written, and the transaction has ended all the same. */
int godwit_commit(godwit_transaction *transaction);

/*
 * Ends a transaction, and its rows, and takes back what it wrote. NULL is ignored. Another thread may do that for one whose
 * thread has lost it, once its rows are closed: before that it is GODWIT_MISUSE.
 */
int godwit_rollback(godwit_transaction *transaction);

/* ---- SQL -------------------------------------------------------------------------------------------------------- */

#define GODWIT_NULL 0
#define GODWIT_INTEGER 1
#define GODWIT_REAL 2
#define GODWIT_TEXT 3
#define GODWIT_BLOB 4

/* A value. This struct never changes: arrays of it are passed. */
typedef struct godwit_value {
  int32_t type;       /* GODWIT_NULL to GODWIT_BLOB */
  int32_t reserved;   /* 0 */
  int64_t integer;    /* of GODWIT_INTEGER */
  double real;        /* of GODWIT_REAL */
  const void *bytes;  /* of a text, which need not end with NUL where it is given, and of a blob */
  size_t length;      /* how many bytes those are */
} godwit_value;

/*
 * Runs one statement that writes, with the values bound to its parameters 1, 2, …; a statement that fails leaves
 * nothing behind, and the transaction continues. `changed`, how many rows it changed, may be NULL. One that only finds
 * rows is GODWIT_INVALID_ARGUMENT: it is for godwit_query.
 *
 * What is written to tables that came by migrations is captured and synced. A table of CREATE TABLE is this replica's own.
 * The SQL is that of the SQLCipher that the library runs on, which `godwit --version` says: Debian's 3.4.1 has SQLite
 * 3.15, without UPSERT, RETURNING, window functions and JSON.
 */
int godwit_execute(godwit_transaction *transaction, const char *sql, const godwit_value *values, size_t count,
                   int64_t *changed);

/*
 * The same for each of many rows, whose values lie one row after another, `columns` for each, at least one: all of them,
 * or none when one fails. Of many rows it takes a fraction of the time.
 */
int godwit_execute_many(godwit_transaction *transaction, const char *sql, const godwit_value *values, size_t columns,
                        size_t rows, int64_t *changed);

/* The rows that one statement finds. Read by the thread of their transaction. */
typedef struct godwit_rows godwit_rows;

/* Begins to read. A transaction's rows end with it; godwit_rows_close ends them before. */
int godwit_query(godwit_transaction *transaction, const char *sql, const godwit_value *values, size_t count,
                 godwit_rows **rows);

/* How many columns each row has. 0 for what are no rows. */
size_t godwit_column_count(godwit_rows *rows);

/* The name of a column, from 0 on; NULL for one that is not there. It belongs to the rows. */
const char *godwit_column_name(godwit_rows *rows, size_t column);

/*
 * GODWIT_ROW with the next row, as many values as there are columns, which last until the next call for these rows;
 * texts of them end with NUL. GODWIT_DONE after the last one, and after a failure.
 */
int godwit_next(godwit_rows *rows, const godwit_value **row);

/* Ends reading, for any thread: the row that was read last is gone. NULL is ignored. */
int godwit_rows_close(godwit_rows *rows);

/* ---- Documents -------------------------------------------------------------------------------------------------- */

/*
 * Puts an object of JSON under a key of a collection, which comes to be with its first document; it replaces the one
 * that is there. Merges of other replicas' work go member by member (Specs/documents.md).
 *
 * `expires` is when it is gone, in milliseconds since 1970 UTC; 0: never.
 */
int godwit_put(godwit_transaction *transaction, const char *collection, const char *key, const char *json,
               int64_t expires);

/* Writes these members of a document, and leaves its others; it is made where there is none. */
int godwit_merge(godwit_transaction *transaction, const char *collection, const char *key, const char *json);

/* The document as JSON, or NULL where there is none. */
int godwit_get(godwit_transaction *transaction, const char *collection, const char *key, char **json);

/* Deletes a document. `deleted`, whether there was one (1 or 0), may be NULL. */
int godwit_delete(godwit_transaction *transaction, const char *collection, const char *key, int *deleted);

/*
 * Rows of two columns, `key` and `json`, of the documents for which a condition holds: "price > 3 and name = 'Ada'"
 * (Specs/documents.md, "Queries"). `where` and `order` may be NULL. The rows are in memory, at most `limit` of them;
 * 0: all.
 */
int godwit_find(godwit_transaction *transaction, const char *collection, const char *where, const char *order,
                size_t limit, godwit_rows **rows);

/* ---- Cache ------------------------------------------------------------------------------------------------------ */

/* Bytes by key that are encrypted, bounded, and never leave the machine. Used by any thread. */
typedef struct godwit_cache godwit_cache;

/*
 * Opens a cache beside the replica, or makes it. Names have 1 to 64 of a–z, 0–9, `-` and `_`. Beyond a bound what was
 * not used for longest goes; 0: no bound. A second call with one name gives the same cache, with the bounds of the first.
 * It closes with the replica.
 */
int godwit_cache_open(godwit_replica *replica, const char *name, size_t bytes, size_t entries, godwit_cache **cache);

/* Puts bytes under a key. `lifetime` is how long they stay, in milliseconds; 0: until something else pushes them out. */
int godwit_cache_set(godwit_cache *cache, const char *key, const void *bytes, size_t length, int64_t lifetime);

/*
 * The bytes under a key, or NULL where there are none, also where the cache cannot be read: that is no reason to fail. An
 * empty value is a pointer to no bytes.
 */
int godwit_cache_get(godwit_cache *cache, const char *key, void **bytes, size_t *length);

/* Removes what is under a key, if anything is; everything. */
int godwit_cache_remove(godwit_cache *cache, const char *key);
int godwit_cache_clear(godwit_cache *cache);

/* Gives the handle back. NULL is ignored. */
int godwit_cache_close(godwit_cache *cache);

/* ---- Exchange --------------------------------------------------------------------------------------------------- */

#define GODWIT_ALL 1     /* of godwit_export: also what the others are known to hold */
#define GODWIT_STATE 2   /* of godwit_export: the whole state, for who lacks what the others have forgotten */
#define GODWIT_REJOIN 4  /* of godwit_import and godwit_sync: a whole state may replace one that is too old */
#define GODWIT_COLLECT 8 /* of godwit_sync: keep a log at the remotes for the others of a large group */

/* Each report is JSON as the program prints it with --json: Specs/cli/export.json and so on. */

/* Writes what other members may lack as a sync file. `member` is the one it is sealed to; NULL: all of them. */
int godwit_export(godwit_replica *replica, const char *file, const char *member, int flags, char **report);

/* Applies a sync file, whole or not at all. */
int godwit_import(godwit_replica *replica, const char *file, int flags, char **report);

/* Names a folder, an ssh host or a bucket that keeps sync files for the group (Specs/remotes.md). */
int godwit_remote_add(godwit_replica *replica, const char *name, const char *url);

/* Forgets one; its files stay. */
int godwit_remote_remove(godwit_replica *replica, const char *name);

/* The remotes, as a JSON array of what `godwit remote list --json` prints. */
int godwit_remotes(godwit_replica *replica, char **json);

/*
 * Fetches what others have published at a remote, and publishes what they may lack; NULL: at all remotes.
 *
 * The report is a JSON array with an object for each remote. Returns the failure of the first that failed; the others
 * were synced all the same, and the report has them all.
 */
int godwit_sync(godwit_replica *replica, const char *remote, int flags, char **report);

/* ---- Conflicts -------------------------------------------------------------------------------------------------- */

/* The latest writes that lost a merge, newest first, at most `limit`, as a JSON array (Specs/cli/conflicts.json). */
int godwit_conflicts(godwit_replica *replica, size_t limit, char **json);

/* Writes again what lost, as a new change. `written`, whether anything was left to write (1 or 0), may be NULL. */
int godwit_conflict_restore(godwit_replica *replica, int64_t number, int *written);

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

/* Notices changes of tables. Used by any thread. */
typedef struct godwit_watch godwit_watch;

/*
 * Watches tables, `count` of them; 0: all. That of a collection, `documents_NAME`, need not be there yet; any other must.
 * `descriptor` becomes readable after a transaction has changed one of them: of this process at once, of another one
 * within a second. It may also become readable when nothing has changed, and does when the replica is closed. It belongs
 * to the watch: poll it, and call godwit_watch_clear before reading the tables anew. GODWIT_BUSY in a thread with a
 * transaction of the replica, for the tables are looked up.
 */
int godwit_watch_open(godwit_replica *replica, const char *const *tables, size_t count, int *descriptor,
                      godwit_watch **watch);

/*
 * Makes the descriptor unreadable until the next change. `changed`, whether it was readable (1 or 0), may be NULL.
 * GODWIT_CLOSED once the replica is closed.
 */
int godwit_watch_clear(godwit_watch *watch, int *changed);

/* Closes the descriptor. NULL is ignored. */
int godwit_watch_close(godwit_watch *watch);

#ifdef __cplusplus
}
#endif

#endif

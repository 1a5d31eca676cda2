// SQLCipher's header declares the key functions only for builds that name the codec.
#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif
#include <sqlite3.h>

// sqlite3_db_config is variadic, which Swift cannot call.
static inline int godwitSetTriggers(sqlite3 *handle, int enabled) {
  return sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled, (int *)0);
}

static inline int godwitSetForeignKeys(sqlite3 *handle, int enabled) {
  return sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, enabled, (int *)0);
}

// SQLITE_DBCONFIG_DEFENSIVE, which the header of 3.15 does not name and its library does not know.
static inline int godwitSetDefensive(sqlite3 *handle) {
  return sqlite3_db_config(handle, 1010, 1, (int *)0);
}

// sqlite3_config is, too. How many pages each connection takes at once for its cache, which no page needs to fill; it has
// no effect once the library is in use.
static inline int godwitSetFirstPages(int count) {
  return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, count);
}

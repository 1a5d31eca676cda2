import CSQLCipher
import GodwitBase

/// Called with the pages in the write-ahead log after a commit.
package final class CommitObserver {
  fileprivate let body: (_ pages: Int) -> Void

  package init(_ body: @escaping (_ pages: Int) -> Void) { self.body = body }
}

extension Connection {
  /// Calls the observer after every commit of this connection, which leaves checkpoints to it: SQLite's own automatic
  /// checkpoint uses the same hook.
  package func observeCommits(_ observer: CommitObserver) {
    retain(observer)
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        guard let context else { return SQLITE_OK }
        Unmanaged<CommitObserver>.fromOpaque(context).takeUnretainedValue().body(Int(pages))
        return SQLITE_OK
      }, Unmanaged.passUnretained(observer).toOpaque())
  }

  /// Moves what it can of the write-ahead log into the database, waiting for nobody. What a reader still needs, or
  /// another connection is moving, stays for the next time; a failure to write does too.
  package func checkpoint() {
    sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }
}

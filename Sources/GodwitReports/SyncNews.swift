import Godwit
import Synchronization

/// What is new in the reports of a replica that keeps itself in sync: what moved or was found at a remote, and when one
/// begins to fail, fails with something else, or is well again.
package final class SyncNews: Sendable {
  /// A remote's part of a report, which is news.
  package struct Item: Sendable {
    package let remote: Replica.SyncReport.Remote
    /// Whether it failed the last time, and does not any more.
    package let isRecovered: Bool
  }

  /// The last error of each remote that fails.
  private let failures = Mutex<[String: GodwitError.Code]>([:])

  package init() {}

  /// What of this report is news after those before it.
  package func items(of report: Replica.SyncReport) -> [Item] {
    report.remotes.compactMap { remote in
      let former = failures.withLock { failures in
        defer { failures[remote.name] = remote.error?.code }
        return failures[remote.name]
      }
      guard remote.hasNews || former != remote.error?.code else { return nil }
      return Item(remote: remote, isRecovered: former != nil && remote.error == nil)
    }
  }
}

extension Replica.SyncReport.Remote {
  /// Whether anything moved or was found.
  fileprivate var hasNews: Bool {
    !taken.isEmpty || !refused.isEmpty || published != nil || publishedState != nil || publishedLog != nil
      || !findings.isEmpty
  }
}

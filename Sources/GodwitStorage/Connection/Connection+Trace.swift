import CSQLCipher

/// Called after each statement with its text and how long it took.
package final class StatementObserver {
  fileprivate let expandsValues: Bool
  fileprivate let body: (_ text: String, _ microseconds: Int) -> Void

  package init(expandsValues: Bool, _ body: @escaping (_ text: String, _ microseconds: Int) -> Void) {
    self.expandsValues = expandsValues
    self.body = body
  }
}

extension Connection {
  /// Calls the observer with every statement from now on; the key was set before that.
  package func observeStatements(_ observer: StatementObserver) {
    retain(observer)
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_PROFILE),
      { _, context, statement, nanoseconds in
        guard let context, let statement, let nanoseconds else { return 0 }
        let observer = Unmanaged<StatementObserver>.fromOpaque(context).takeUnretainedValue()
        let time = Int(nanoseconds.assumingMemoryBound(to: Int64.self).pointee / 1_000)
        observer.body(Connection.text(of: OpaquePointer(statement), expanded: observer.expandsValues), time)
        return 0
      }, Unmanaged.passUnretained(observer).toOpaque())
  }

  fileprivate static func text(of statement: OpaquePointer, expanded: Bool) -> String {
    guard expanded, let text = sqlite3_expanded_sql(statement) else {
      return sqlite3_sql(statement).map { String(cString: $0) } ?? ""
    }
    defer { sqlite3_free(text) }
    return String(cString: text)
  }
}

#if compiler(>=6.2)
  /// A class whose type any thread may name.
  package typealias SharedType = AnyObject & SendableMetatype
#else
  /// A class; that any thread may name its type goes without saying before Swift 6.2.
  package typealias SharedType = AnyObject
#endif

/// What a ``DatabaseThread`` keeps for as long as its connection is open: the connection itself, or what uses it. It is
/// made, used and released on that thread.
package protocol DatabaseSession: SharedType {
  var connection: Connection { get }

  /// Called before the connection closes, while it can still be used.
  func willClose()
}

extension Connection: DatabaseSession {
  package var connection: Connection { self }
  package func willClose() {}
}

/// What a layer above remembers on a connection, for as long as that is open.
package protocol ConnectionMemory: AnyObject {
  init()
}

extension Connection {
  /// The connection's memory of this kind, made at its first use.
  package func memory<Memory: ConnectionMemory>(_ type: Memory.Type) -> Memory {
    if let known = memories[ObjectIdentifier(type)] as? Memory { return known }
    let memory = Memory()
    memories[ObjectIdentifier(type)] = memory
    return memory
  }
}

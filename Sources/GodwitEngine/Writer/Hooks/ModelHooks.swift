import GodwitModel

/// A model that takes part in its own writes and reads. Adopt it and implement what is needed.
///
/// An insert calls `willSave`, `willInsert`, judges the rules, writes, and calls `didInsert` and `didSave`; an update
/// likewise. Hooks that are `mutating` may change the model, and the changed one is judged and stored. A hook that
/// throws refuses the write: it and everything its hooks did are taken back, and the transaction can continue.
///
/// Hooks write through the transaction they are given, up to 64 levels deep. They see writes of models, not those
/// of SQL, of queries, of delete actions of foreign keys, or of imports.
public protocol ModelHooks: LoadHook {
  /// Before an insert or update is judged; the first of the hooks.
  mutating func willSave(_ transaction: Transaction) throws
  /// After an insert or update; the last of the hooks.
  func didSave(_ transaction: Transaction) throws
  /// Before a new row is judged and written.
  mutating func willInsert(_ transaction: Transaction) throws
  /// After a new row is written.
  func didInsert(_ transaction: Transaction) throws
  /// Before changes to a row are judged and written.
  mutating func willUpdate(_ transaction: Transaction) throws
  /// After changes to a row are written, also when no column differed.
  func didUpdate(_ transaction: Transaction) throws
  /// Before a row is deleted. Called on the row as it is stored.
  func willDelete(_ transaction: Transaction) throws
  /// After a row is deleted. Called on the row as it was stored.
  func didDelete(_ transaction: Transaction) throws
}

extension ModelHooks {
  /// Does nothing.
  public mutating func willSave(_ transaction: Transaction) throws {}
  /// Does nothing.
  public func didSave(_ transaction: Transaction) throws {}
  /// Does nothing.
  public mutating func willInsert(_ transaction: Transaction) throws {}
  /// Does nothing.
  public func didInsert(_ transaction: Transaction) throws {}
  /// Does nothing.
  public mutating func willUpdate(_ transaction: Transaction) throws {}
  /// Does nothing.
  public func didUpdate(_ transaction: Transaction) throws {}
  /// Does nothing.
  public func willDelete(_ transaction: Transaction) throws {}
  /// Does nothing.
  public func didDelete(_ transaction: Transaction) throws {}
  /// Does nothing.
  public mutating func didLoad() {}
}

/// The moments of a write.
enum Hook {
  case willSave, willInsert, willUpdate, willDelete
  case didSave, didInsert, didUpdate, didDelete
}

extension ModelHooks {
  /// Reached through the type, which is looked up once, rather than through a cast of every row.
  static func run(_ hook: Hook, at model: UnsafeMutableRawPointer, in transaction: Transaction) throws {
    let model = model.assumingMemoryBound(to: Self.self)
    switch hook {
    case .willSave: try model.pointee.willSave(transaction)
    case .willInsert: try model.pointee.willInsert(transaction)
    case .willUpdate: try model.pointee.willUpdate(transaction)
    case .willDelete: try model.pointee.willDelete(transaction)
    case .didSave: try model.pointee.didSave(transaction)
    case .didInsert: try model.pointee.didInsert(transaction)
    case .didUpdate: try model.pointee.didUpdate(transaction)
    case .didDelete: try model.pointee.didDelete(transaction)
    }
  }
}

import GodwitBase
import GodwitStorage

/// Reads and writes one property of a model through a pointer to the model.
///
/// A stored property is reached by its offset, which is as fast as naming it; a computed one by its key path. The
/// functions get a pointer to the model plus an offset: those of stored properties capture nothing, and calling
/// them counts no references.
public struct ColumnAccess: Sendable {
  package let offset: Int
  package let bind: @Sendable (UnsafeRawPointer, ColumnBinderTarget) throws -> Void
  package let read: @Sendable (UnsafeMutableRawPointer, ColumnReaderSource) throws -> Void
  package let storedValue: @Sendable (UnsafeRawPointer) throws -> Value

  static func of<Root, Property: ColumnValue>(
    _ keyPath: WritableKeyPath<Root, Property> & Sendable
  ) -> ColumnAccess {
    if let offset = MemoryLayout<Root>.offset(of: keyPath) { return Property._access(atOffset: offset) }
    return ColumnAccess(
      offset: 0,
      bind: { root, target in
        let property = root.assumingMemoryBound(to: Root.self).pointee[keyPath: keyPath]
        try property.bind(to: ColumnBinder(target))
      },
      read: { root, source in
        root.assumingMemoryBound(to: Root.self).pointee[keyPath: keyPath] = try .read(from: ColumnReader(source))
      },
      storedValue: { try $0.assumingMemoryBound(to: Root.self).pointee[keyPath: keyPath].storedValue() })
  }

  /// The key: at its offset when it is a stored property, else through the model's own accessors.
  static func key<Root: Model>(of type: Root.Type) -> ColumnAccess {
    if let offset = Root.keyOffset { return Root.ID._access(atOffset: offset) }
    return ColumnAccess(
      offset: 0,
      bind: { root, target in
        try root.assumingMemoryBound(to: Root.self).pointee.id.bind(to: ColumnBinder(target))
      },
      read: { root, source in
        root.assumingMemoryBound(to: Root.self).pointee.id = try .read(from: ColumnReader(source))
      },
      storedValue: { try $0.assumingMemoryBound(to: Root.self).pointee.id.storedValue() })
  }

  /// Inlined into each type's own `_access`, where the type is known and the calls are direct.
  @inline(__always)
  static func stored<Property: ColumnValue>(_ type: Property.Type, at offset: Int) -> ColumnAccess {
    ColumnAccess(
      offset: offset,
      bind: { try $0.assumingMemoryBound(to: Property.self).pointee.bind(to: ColumnBinder($1)) },
      read: { $0.assumingMemoryBound(to: Property.self).pointee = try .read(from: ColumnReader($1)) },
      storedValue: { try $0.assumingMemoryBound(to: Property.self).pointee.storedValue() })
  }
}

/// A statement on a row and the position of a column.
package struct ColumnReaderSource {
  let statement: UnretainedStatement
  let index: Int32

  package init(_ statement: Statement, _ index: Int32) {
    self.statement = UnretainedStatement(statement)
    self.index = index
  }
}

extension Model {
  /// Where ``id`` stands in the value, or nil when it is not a stored property. A key path made here would go
  /// through the protocol and know no offset; the address that an access yields does.
  static var keyOffset: Int? {
    var prototype = Self()
    let offset = withUnsafeMutablePointer(to: &prototype) { model in
      withUnsafeMutablePointer(to: &model.pointee.id) { UnsafeRawPointer($0) - UnsafeRawPointer(model) }
    }
    let isInside = offset >= 0 && offset + MemoryLayout<ID>.size <= MemoryLayout<Self>.size
    return isInside && offset.isMultiple(of: MemoryLayout<ID>.alignment) ? offset : nil
  }
}

import GodwitBase
import GodwitStorage

/// Reads and writes one property of a model through a pointer to the model.
///
/// A stored property is reached by its offset, which is as fast as naming it; a computed one by its key path.
public struct ColumnAccess: Sendable {
  package let bind: @Sendable (UnsafeRawPointer, ColumnBinderTarget) throws -> Void
  package let read: @Sendable (UnsafeMutableRawPointer, ColumnReaderSource) throws -> Void
  package let storedValue: @Sendable (UnsafeRawPointer) throws -> Value

  static func of<Root, Property: ColumnValue>(
    _ keyPath: WritableKeyPath<Root, Property> & Sendable
  ) -> ColumnAccess {
    if let offset = MemoryLayout<Root>.offset(of: keyPath) { return Property._access(atOffset: offset) }
    return ColumnAccess(
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
      bind: { root, target in
        let property = (root + offset).assumingMemoryBound(to: Property.self)
        try property.pointee.bind(to: ColumnBinder(target))
      },
      read: { root, source in
        let property = (root + offset).assumingMemoryBound(to: Property.self)
        property.pointee = try Property.read(from: ColumnReader(source))
      },
      storedValue: { try ($0 + offset).assumingMemoryBound(to: Property.self).pointee.storedValue() })
  }
}

/// A statement on a row and the position of a column. It is passed down and never kept, so it does not retain.
package struct ColumnReaderSource {
  package unowned(unsafe) let statement: Statement
  package let index: Int32

  package init(_ statement: Statement, _ index: Int32) {
    self.statement = statement
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

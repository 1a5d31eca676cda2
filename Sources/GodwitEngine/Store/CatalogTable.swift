import GodwitBase
import GodwitCore

/// A table this replica has, and its number in row state and triggers.
package struct CatalogTable: Sendable {
  package let id: Int
  package let definition: TableDefinition
  /// The columns whose updates are logged as what they do to the value.
  let relativeColumns: [Int]
  /// By column, the tags of values (as bits) that the table may keep in another form.
  let convertibleTags: [UInt8]

  init(id: Int, definition: TableDefinition) {
    self.id = id
    self.definition = definition
    relativeColumns = definition.columns.indices.filter { definition.columns[$0].merge.isRelative }
    convertibleTags = definition.convertibleTags
  }

  /// The row whose key an operation names, in the form that the table keeps.
  func row(_ key: ArraySlice<UInt8>) throws -> RowKey {
    guard try definition.mayConvert(key) else { return RowKey(table: id, key: key) }
    var reader = ByteReader(key)
    var stored = ByteWriter(capacity: key.count)
    for column in 0..<definition.keyCount { stored.value(definition.stored(try reader.value(), in: column)) }
    return RowKey(table: id, key: stored.bytes[...])
  }
}

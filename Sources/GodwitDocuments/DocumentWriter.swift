import Foundation
import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

/// Writes documents through the writer's connection, adding columns as they need them.
///
/// New documents go the way of model inserts: a long run of them turns triggers off and hands each row to the change
/// log itself (Specs/decisions/0006-insert-runs.md).
package final class DocumentWriter: CatalogFollower {
  private unowned let writer: ReplicaWriter
  private var layouts: [String: CollectionLayout] = [:]
  private var cells = DocumentCells()
  private var row = ByteWriter(capacity: 512)
  static let keyByteLimit = 1_024
  /// How many documents in a row were new.
  private var newInARow = 0
  /// From then on the next is taken for new, too, and looked for only when it turns out not to be.
  private static let expectingNew = 16

  package init(_ writer: ReplicaWriter) { self.writer = writer }

  private var connection: Connection { writer.connection }

  package func catalogHasChanged() {
    for layout in layouts.values { layout.close() }
    layouts.removeAll()
  }

  package enum Mode {
    /// The document becomes what is given.
    case whole
    /// Members that are not given stay.
    case merging
  }

  /// What to do with the expiry; milliseconds since 1970 UTC.
  package enum Expiry {
    case keep
    case set(Int64?)
  }

  // MARK: Writing

  /// Writes a document. Whether anything differed from what was there.
  ///
  /// - Parameter now: In the place of a document that has expired by then one begins anew, whatever the mode.
  @discardableResult
  package func write(
    _ source: DocumentSource, to collection: CollectionAddress, key: String, mode: Mode, expiry: Expiry, at now: Int64
  ) throws -> Bool {
    try Self.check(key: key)
    let layout = try source.withBytes { bytes in
      let layout = try self.layout(of: collection)
      let unknown = try read(bytes, key, expiry, layout)
      guard !unknown.isEmpty else { return layout }
      let columns = try unknown.map { try CollectionTable.column(of: $0) }
      try writer.growCollection(collection.table(), columns: columns)
      let grown = try self.layout(of: collection)
      _ = try read(bytes, key, expiry, grown)
      return grown
    }
    return try connection.whole { try store(key, layout, mode, now) }
  }

  /// Key and expiry stand first, as in the row: cells in the order of the columns are one piece of memory.
  private func read(
    _ bytes: UnsafeRawBufferPointer, _ key: String, _ expiry: Expiry, _ layout: CollectionLayout
  ) throws -> [String] {
    cells.begin(layout)
    cells.set(0, .text(key))
    if case .set(let instant) = expiry { cells.set(1, instant.map { .integer($0) } ?? .null) }
    return try cells.read(bytes, layout)
  }

  /// Whether triggers of the program's own are on the table.
  private func isWatched(_ layout: CollectionLayout) -> Bool {
    !writer.tablesWithTriggers.isEmpty
      && writer.tablesWithTriggers.contains(layout.table.definition.name.lowercased())
  }

  private func store(_ key: String, _ layout: CollectionLayout, _ mode: Mode, _ now: Int64) throws -> Bool {
    if newInARow >= Self.expectingNew, cells.mayBeNew, try insertIfNew(layout) { return true }
    let changed: [Int]? = try connection.withStatement(layout.rows.selectSQL) { statement in
      try statement.bind(key, at: 1)
      guard try statement.step() else { return nil }
      if let expiry = DocumentReading.expiry(try statement.value(at: 1)), expiry <= now {
        try cells.checkIsNew()
        return differences(statement, layout, .whole)
      }
      if mode == .merging { try cells.checkForms(with: statement, layout.shape) }
      try cells.settle(with: statement, layout)
      return differences(statement, layout, mode)
    }
    guard let changed else {
      try cells.checkIsNew()
      newInARow += 1
      try insert(layout)
      return true
    }
    newInARow = 0
    guard !changed.isEmpty else { return false }
    try writer.models.endRun()
    let limit = layout.rows.updateLimit
    for first in stride(from: 0, to: changed.count, by: limit) {
      try update(key, changed[first..<min(first + limit, changed.count)], layout)
    }
    return true
  }

  private func update(_ key: String, _ columns: ArraySlice<Int>, _ layout: CollectionLayout) throws {
    var bound = ByteWriter(capacity: 256)
    for column in columns { bound.raw(cells.encoded(column) ?? layout.defaults[column][...]) }
    bound.textValue(key)
    let bytes = bound.bytes
    try connection.withStatement(layout.rows.updateSQL(columns)) { statement in
      try bytes.withUnsafeBytes { buffer in
        try statement.bindBorrowed(encoded: buffer)
        try statement.run()
      }
    }
  }

  /// The columns whose values are to change.
  private func differences(_ statement: Statement, _ layout: CollectionLayout, _ mode: Mode) -> [Int] {
    var stored = ByteWriter(capacity: 64)
    return (1..<layout.table.definition.columns.count).filter { column in
      guard !cells.kept.contains(column) else { return false }
      let wanted: ArraySlice<UInt8>
      if let given = cells.encoded(column) {
        wanted = given
      } else if mode == .whole {
        wanted = layout.defaults[column][...]
      } else {
        return false
      }
      stored.removeAll()
      statement.write(at: Int32(column), to: &stored)
      return !stored.bytes.elementsEqual(wanted)
    }
  }

  private func insertIfNew(_ layout: CollectionLayout) throws -> Bool {
    // A program's own triggers may have done something before the insert fails.
    guard !connection.schemaMayFail else { return false }
    do {
      try insert(layout)
      return true
    } catch let error as GodwitError where error.code == .constraint {
      newInARow = 0
      return false
    }
  }

  private func insert(_ layout: CollectionLayout) throws {
    let statement = try layout.insertion.get()
    let isWatched = isWatched(layout)
    if isWatched { try writer.models.endRun() }
    if try !isWatched && writer.models.extendRun() {
      return try writer.capture.insert(table: layout.table.id) { operations in
        cells.write(to: &operations.pointee, layout)
      } store: { row in
        try layout.rows.insert(encoded: row, by: statement)
      }
    }
    row.removeAll()
    cells.write(to: &row, layout)
    try row.withBytes(0..<row.count) { try layout.rows.insert(encoded: $0, by: statement) }
  }

  // MARK: Tables

  /// The collection's layout; makes the table, and columns for what the program has declared, when they are missing.
  private func layout(of collection: CollectionAddress) throws -> CollectionLayout {
    let table = try collection.table()
    if let known = layouts[table], try missing(collection.members, known).isEmpty { return known }
    let missing = try layouts[table].map { try self.missing(collection.members, $0) } ?? declared(collection.members)
    if writer.catalog[table] == nil || !missing.isEmpty { try writer.growCollection(table, columns: missing) }
    guard let entry = writer.catalog[table] else {
      throw GodwitError(.notInSchema, "there is no table \(table)")
    }
    let layout = CollectionLayout(entry, on: connection)
    layouts[table] = layout
    return layout
  }

  private func declared(_ members: [Document.Member]) throws -> [String] {
    try members.map { try CollectionTable.column(of: $0.name, $0.kind) }
  }

  private func missing(_ members: [Document.Member], _ layout: CollectionLayout) throws -> [String] {
    guard !members.isEmpty else { return [] }
    return try members.filter { member in
      let here = layout.shape[member.name]
      return (member.kind == .counter ? here?.counter : here?.set) == nil
    }.map { try CollectionTable.column(of: $0.name, $0.kind) }
  }

  /// The layout of a collection that is there, or nil. Nothing is made.
  package func existing(_ collection: CollectionAddress) throws -> CollectionLayout? {
    let table = try collection.table()
    guard writer.catalog[table] != nil else { return nil }
    return try layout(of: collection)
  }

  static func check(key: String) throws {
    guard !key.isEmpty, key.utf8.count <= keyByteLimit else {
      throw GodwitError(
        .invalidArgument, "a document's key is \(key.isEmpty ? "empty" : "longer than \(keyByteLimit) bytes")")
    }
  }
}

import Foundation
import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitDocuments
import GodwitStorage

// MARK: Whole documents

extension Documents.Inside where Scope == Transaction {
  /// As ``Documents/set(_:json:expires:)``.
  public func set(_ key: String, json: String, expires: Date? = nil) throws {
    try write(DocumentSource(json: json), key, .whole, .set(try Self.milliseconds(expires)))
  }

  /// As ``Documents/set(_:_:expires:)``.
  public func set(_ key: String, _ document: [String: JSON], expires: Date? = nil) throws {
    try write(DocumentSource(document), key, .whole, .set(try Self.milliseconds(expires)))
  }

  /// As ``Documents/set(_:encoding:expires:)``.
  public func set(_ key: String, encoding value: some Encodable, expires: Date? = nil) throws {
    try write(DocumentSource(encoding: value), key, .whole, .set(try Self.milliseconds(expires)))
  }
}

// MARK: Members

extension Documents.Inside where Scope == Transaction {
  /// As ``Documents/merge(_:json:)``.
  public func merge(_ key: String, json: String) throws {
    try write(DocumentSource(json: json), key, .merging, .keep)
  }

  /// As ``Documents/merge(_:_:)``.
  public func merge(_ key: String, _ members: [String: JSON]) throws {
    try write(DocumentSource(members), key, .merging, .keep)
  }

  /// As ``Documents/add(_:to:of:)``.
  public func add(_ amount: Int, to member: String, of key: String) throws {
    try change(member, of: key) { layout, present in
      guard layout.shape[member]?.counter != nil else { throw Self.undeclared(member, "counter") }
      let (sum, overflows) = (present?.integerValue ?? 0).addingReportingOverflow(Int64(amount))
      guard !overflows else {
        throw GodwitError.integerOverflow(of: member, table: layout.table.definition.name, key: Value.text(key).literal)
      }
      return .integer(sum)
    }
  }

  /// As ``Documents/insert(_:into:of:)``.
  public func insert(_ element: JSON, into member: String, of key: String) throws {
    let element = try Self.stored(element)
    try change(member, of: key) { layout, present in
      guard layout.shape[member]?.set != nil else { throw Self.undeclared(member, "set") }
      let elements = present?.arrayValue ?? []
      return .array(elements.contains(element) ? elements : elements + [element])
    }
  }

  /// As ``Documents/remove(_:from:of:)``.
  public func remove(_ element: JSON, from member: String, of key: String) throws {
    let element = try Self.stored(element)
    let now = clock.now
    guard try row(key, at: now, { _, _ in true }) != nil else {
      guard try address.declaresSet(member) || layout?.shape[member]?.set != nil else {
        throw Self.undeclared(member, "set")
      }
      return
    }
    try change(member, of: key, at: now) { layout, present in
      guard layout.shape[member]?.set != nil else { throw Self.undeclared(member, "set") }
      return .array((present?.arrayValue ?? []).filter { $0 != element })
    }
  }

  /// An element as sets have it: 2.0 is 2. Throws `valueNotStorable` for a number that JSON has not.
  private static func stored(_ element: JSON) throws -> JSON {
    try element.checkNumbers()
    return DocumentCell.json(of: DocumentCell.value(of: element))
  }

  private func change(
    _ member: String, of key: String, at instant: Int64? = nil, _ body: (CollectionLayout, JSON?) throws -> JSON
  ) throws {
    // One instant, so that the document does not expire meanwhile.
    let now = instant ?? clock.now
    try scope.savepoint {
      // An empty merge makes table, declared columns and document.
      try write(DocumentSource([:]), key, .merging, .keep, at: now)
      guard let layout = try layout else { return }
      // Of names that Unicode holds for the same this is the one of these bytes.
      let present = try row(key, at: now) { try DocumentReading.member(named: member, $0, $1) } ?? nil
      let value = try body(layout, present)
      try write(DocumentSource([member: value]), key, .merging, .keep, at: now)
    }
  }

  private static func undeclared(_ member: String, _ kind: String) -> GodwitError {
    GodwitError(
      .invalidArgument, "member \(member) is not declared as a \(kind)",
      hint: "declare it: documents(…, members: [.\(kind)(\"\(member)\")])")
  }
}

// MARK: Expiry and deleting

extension Documents.Inside where Scope == Transaction {
  /// As ``Documents/expire(_:at:)``.
  @discardableResult
  public func expire(_ key: String, at instant: Date?) throws -> Bool {
    let now = clock.now
    guard try row(key, at: now, { _, _ in true }) != nil else { return false }
    try write(DocumentSource([:]), key, .merging, .set(try Self.milliseconds(instant)), at: now)
    return true
  }

  /// As ``Documents/delete(_:)-(String)``.
  @discardableResult
  public func delete(_ key: String) throws -> Bool {
    let wasThere = try has(key)
    guard try layout != nil else { return false }
    let table = SQLName.quoted(try address.table())
    _ = try delete(SQL(text: "DELETE FROM \(table) WHERE \"_key\" = ?", values: [.text(key)]))
    return wasThere
  }

  /// As ``Documents/delete(_:)-(DocumentRequest<Document>)``.
  @discardableResult
  public func delete(_ request: DocumentRequest<Document>) throws -> Int {
    try scope.checkIsOpen()
    guard let layout = try scope.writer.follower(DocumentWriter.self).existing(request.address) else {
      try request.check()
      return 0
    }
    return try delete(try request.deletion(layout.shape))
  }

  /// As ``Documents/drop()``.
  public func drop() throws {
    guard try layout != nil && scope.first(documents.all.keys) != nil else {
      throw GodwitError(
        .notFound, "there is no collection \(documents.collection)",
        hint: "a collection is there while it has documents")
    }
    _ = try delete(SQL(text: "DELETE FROM \(SQLName.quoted(try address.table()))"))
  }

  private func delete(_ sql: SQL) throws -> Int {
    try scope.checkIsOpen()
    try scope.models.endRun()
    return try scope.connection.whole {
      try scope.connection.withStatement(sql.text) { statement in
        try statement.bind(sql.values)
        try statement.run()
        return scope.connection.changes
      }
    }
  }
}

// MARK: Writing

extension Documents.Inside where Scope == Transaction {
  /// The table and its columns; nil while there is none.
  private var layout: CollectionLayout? {
    get throws { try scope.writer.follower(DocumentWriter.self).existing(address) }
  }

  /// - Parameter now: By which instant a document has expired, so that it begins anew; the present one when nil.
  private func write(
    _ source: DocumentSource, _ key: String, _ mode: DocumentWriter.Mode, _ expiry: DocumentWriter.Expiry,
    at now: Int64? = nil
  ) throws {
    try scope.checkIsOpen()
    try scope.writer.follower(DocumentWriter.self).write(
      source, to: address, key: key, mode: mode, expiry: expiry, at: now ?? clock.now)
  }

  /// Rounded up: a document is there until its instant, and not a part of a millisecond less. One that is infinite is
  /// the last, or the first, that there is. Throws `invalidArgument` for NaN.
  private static func milliseconds(_ date: Date?) throws -> Int64? {
    guard let seconds = date?.timeIntervalSince1970 else { return nil }
    guard !seconds.isNaN else {
      throw GodwitError(
        .invalidArgument, "the expiry is NaN, which is no instant", hint: "a document without one never expires")
    }
    let milliseconds = min(max(seconds * 1_000, -9e15), 9e15)
    // A Date made of milliseconds is not one more.
    let nearest = milliseconds.rounded()
    return Int64(exactly: abs(milliseconds - nearest) < 0.001 ? nearest : milliseconds.rounded(.up))
  }
}

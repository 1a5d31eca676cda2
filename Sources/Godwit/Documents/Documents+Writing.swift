import Foundation
import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitDocuments
import GodwitStorage

extension Documents {
  // MARK: Whole documents

  /// Makes the document what the JSON says: members that it does not name go. Without `expires` it does not expire.
  ///
  /// - Throws: `invalidDocument` with line and column; `limitExceeded`; `invalidArgument` for a key or name that is
  ///   empty or too long, and for an expiry that is NaN. Nothing is stored then.
  public func set(_ key: String, json: String, expires: Date? = nil) async throws {
    try await replica.write { try set(key, json: json, expires: expires, in: $0) }
  }

  /// The same inside a transaction.
  public func set(_ key: String, json: String, expires: Date? = nil, in transaction: Transaction) throws {
    try write(DocumentSource(json: json), key, .whole, .set(try Self.milliseconds(expires)), transaction)
  }

  /// Makes the document what is given: members that are not named go. Without `expires` it does not expire.
  ///
  /// - Throws: `valueNotStorable` for NaN; otherwise as `set(_:json:)`.
  public func set(_ key: String, _ document: [String: JSON], expires: Date? = nil) async throws {
    try await replica.write { try set(key, document, expires: expires, in: $0) }
  }

  /// The same inside a transaction.
  public func set(
    _ key: String, _ document: [String: JSON], expires: Date? = nil, in transaction: Transaction
  ) throws {
    try write(DocumentSource(document), key, .whole, .set(try Self.milliseconds(expires)), transaction)
  }

  /// Makes the document what the value encodes to, which must be an object. Without `expires` it does not expire.
  ///
  /// A `Decimal` is stored as a number where a double gives all its digits back, else as a text, and reads from both.
  ///
  /// - Throws: `valueNotStorable` for what JSON has no form for; otherwise as `set(_:json:)`.
  public func set(_ key: String, encoding value: some Encodable & Sendable, expires: Date? = nil) async throws {
    try await replica.write { try set(key, encoding: value, expires: expires, in: $0) }
  }

  /// The same inside a transaction.
  public func set(
    _ key: String, encoding value: some Encodable, expires: Date? = nil, in transaction: Transaction
  ) throws {
    try write(DocumentSource(encoding: value), key, .whole, .set(try Self.milliseconds(expires)), transaction)
  }

  // MARK: Members

  /// Writes these members and leaves the others; a null takes one away. Makes the document when there is none. Its
  /// expiry stays as it is.
  ///
  /// - Throws: As `set(_:json:)`.
  public func merge(_ key: String, json: String) async throws {
    try await replica.write { try merge(key, json: json, in: $0) }
  }

  /// The same inside a transaction.
  public func merge(_ key: String, json: String, in transaction: Transaction) throws {
    try write(DocumentSource(json: json), key, .merging, .keep, transaction)
  }

  /// Writes these members and leaves the others; null takes one away.
  ///
  /// - Throws: As `set(_:json:)`; `valueNotStorable` for NaN.
  public func merge(_ key: String, _ members: [String: JSON]) async throws {
    try await replica.write { try merge(key, members, in: $0) }
  }

  /// The same inside a transaction.
  public func merge(_ key: String, _ members: [String: JSON], in transaction: Transaction) throws {
    try write(DocumentSource(members), key, .merging, .keep, transaction)
  }

  /// Adds to a counter of a document, which is made when there is none.
  ///
  /// - Throws: `invalidArgument` for a member that is not declared as a counter, `valueNotStorable` when the count
  ///   would be beyond 64 bits.
  public func add(_ amount: Int, to member: String, of key: String) async throws {
    try await replica.write { try add(amount, to: member, of: key, in: $0) }
  }

  /// The same inside a transaction.
  public func add(_ amount: Int, to member: String, of key: String, in transaction: Transaction) throws {
    try change(member, of: key, in: transaction) { layout, present in
      guard layout.shape[member]?.counter != nil else { throw Self.undeclared(member, "counter") }
      let (sum, overflows) = (present?.integerValue ?? 0).addingReportingOverflow(Int64(amount))
      guard !overflows else {
        throw GodwitError.integerOverflow(of: member, table: layout.table.definition.name, key: Value.text(key).literal)
      }
      return .integer(sum)
    }
  }

  /// Puts an element into a set of a document, which is made when there is none.
  ///
  /// - Throws: `invalidArgument` for a member that is not declared as a set.
  public func insert(_ element: JSON, into member: String, of key: String) async throws {
    try await replica.write { try insert(element, into: member, of: key, in: $0) }
  }

  /// The same inside a transaction.
  public func insert(_ element: JSON, into member: String, of key: String, in transaction: Transaction) throws {
    try change(member, of: key, in: transaction) { layout, present in
      guard layout.shape[member]?.set != nil else { throw Self.undeclared(member, "set") }
      let elements = present?.arrayValue ?? []
      return .array(elements.contains(element) ? elements : elements + [element])
    }
  }

  /// Takes an element out of a set of a document.
  ///
  /// - Throws: `invalidArgument` for a member that is not declared as a set.
  public func remove(_ element: JSON, from member: String, of key: String) async throws {
    try await replica.write { try remove(element, from: member, of: key, in: $0) }
  }

  /// The same inside a transaction.
  public func remove(_ element: JSON, from member: String, of key: String, in transaction: Transaction) throws {
    guard try has(key, in: transaction) else { return }
    try change(member, of: key, in: transaction) { layout, present in
      guard layout.shape[member]?.set != nil else { throw Self.undeclared(member, "set") }
      return .array((present?.arrayValue ?? []).filter { $0 != element })
    }
  }

  private func change(
    _ member: String, of key: String, in transaction: Transaction,
    _ body: (CollectionLayout, JSON?) throws -> JSON
  ) throws {
    try transaction.savepoint {
      // An empty merge makes table, declared columns and document.
      try write(DocumentSource([:]), key, .merging, .keep, transaction)
      guard let layout = try transaction.writer.follower(DocumentWriter.self).existing(address) else { return }
      let value = try body(layout, try get(key, in: transaction)?[member])
      try write(DocumentSource([member: value]), key, .merging, .keep, transaction)
    }
  }

  private static func undeclared(_ member: String, _ kind: String) -> GodwitError {
    GodwitError(
      .invalidArgument, "member \(member) is not declared as a \(kind)",
      hint: "declare it: documents(…, members: [.\(kind)(\"\(member)\")])")
  }

  // MARK: Expiry

  /// Lets the document expire at an instant, or never.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: `invalidArgument` for an instant that is NaN.
  @discardableResult
  public func expire(_ key: String, at instant: Date?) async throws -> Bool {
    try await replica.write { try expire(key, at: instant, in: $0) }
  }

  /// The same inside a transaction.
  @discardableResult
  public func expire(_ key: String, at instant: Date?, in transaction: Transaction) throws -> Bool {
    guard try has(key, in: transaction) else { return false }
    try write(DocumentSource([:]), key, .merging, .set(try Self.milliseconds(instant)), transaction)
    return true
  }

  // MARK: Deleting

  /// Deletes the document.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func delete(_ key: String) async throws -> Bool { try await replica.write { try delete(key, in: $0) } }

  /// The same inside a transaction.
  @discardableResult
  public func delete(_ key: String, in transaction: Transaction) throws -> Bool {
    let wasThere = try has(key, in: transaction)
    guard try transaction.writer.follower(DocumentWriter.self).existing(address) != nil else { return false }
    let table = SQLName.quoted(try address.table())
    _ = try delete(SQL(text: "DELETE FROM \(table) WHERE \"_key\" = ?", values: [.text(key)]), transaction)
    return wasThere
  }

  /// Deletes the documents of a request.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func delete(_ request: DocumentRequest<Document>) async throws -> Int {
    try await replica.write { try delete(request, in: $0) }
  }

  /// The same inside a transaction.
  @discardableResult
  public func delete(_ request: DocumentRequest<Document>, in transaction: Transaction) throws -> Int {
    try transaction.checkIsOpen()
    guard let layout = try transaction.writer.follower(DocumentWriter.self).existing(request.address) else {
      try request.check()
      return 0
    }
    return try delete(try request.deletion(layout.shape), transaction)
  }

  /// Deletes every document, here and, as they learn of it, on other replicas: the collection is absent then.
  ///
  /// - Throws: `notFound` when it is absent already.
  public func drop() async throws { try await replica.write { try drop(in: $0) } }

  /// The same inside a transaction.
  public func drop(in transaction: Transaction) throws {
    let isThere = try transaction.writer.follower(DocumentWriter.self).existing(address) != nil
    guard try isThere && transaction.first(all.keys) != nil else {
      throw GodwitError(
        .notFound, "there is no collection \(collection)", hint: "a collection is there while it has documents")
    }
    _ = try delete(SQL(text: "DELETE FROM \(SQLName.quoted(try address.table()))"), transaction)
  }

  private func delete(_ sql: SQL, _ transaction: Transaction) throws -> Int {
    try transaction.checkIsOpen()
    try transaction.models.endRun()
    return try transaction.connection.whole {
      try transaction.connection.withStatement(sql.text) { statement in
        try statement.bind(sql.values)
        try statement.run()
        return transaction.connection.changes
      }
    }
  }

  private func write(
    _ source: DocumentSource, _ key: String, _ mode: DocumentWriter.Mode, _ expiry: DocumentWriter.Expiry,
    _ transaction: Transaction
  ) throws {
    try transaction.checkIsOpen()
    // What has expired is not there to be merged with.
    let isGone = try mode == .merging && isExpired(key, transaction)
    let (mode, expiry) = isGone ? (DocumentWriter.Mode.whole, expiry.orNone) : (mode, expiry)
    try transaction.writer.follower(DocumentWriter.self).write(
      source, to: address, key: key, mode: mode, expiry: expiry)
  }

  private func isExpired(_ key: String, _ transaction: Transaction) throws -> Bool {
    guard try transaction.writer.follower(DocumentWriter.self).existing(address) != nil else { return false }
    let sql = "SELECT 1 FROM \(SQLName.quoted(try address.table())) WHERE \"_key\" = ? AND \"_expires\" <= ?"
    return try transaction.connection.scalar(sql, [.text(key), .integer(clock.now)]) != nil
  }

  /// Rounded up: a document is there until its instant, and not a part of a millisecond less. One that is infinite is
  /// the last, or the first, that there is. Throws `invalidArgument` for NaN.
  static func milliseconds(_ date: Date?) throws -> Int64? {
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

extension DocumentWriter.Expiry {
  /// For a document that begins anew.
  fileprivate var orNone: Self {
    if case .keep = self { return .set(nil) }
    return self
  }
}

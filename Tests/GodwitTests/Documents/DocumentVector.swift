import Foundation
import Godwit

/// A file of Specs/vectors/documents: what replicas do with a collection, and what it is then, as documents and as
/// rows.
struct DocumentVector: Decodable, Sendable {
  let title: String
  let collection: String
  /// In the order of their IDs.
  let replicas: [String]
  let steps: [DocumentVectorStep]

  private enum CodingKeys: CodingKey, CaseIterable { case title, collection, replicas, steps }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    title = try fields.decode(String.self, forKey: .title)
    collection = try fields.decode(String.self, forKey: .collection)
    replicas = try fields.decode([String].self, forKey: .replicas)
    steps = try fields.decode([DocumentVectorStep].self, forKey: .steps)
  }
}

/// One step of a document vector (Specs/vectors/README.md, "Documents").
enum DocumentVectorStep: Decodable, Sendable {
  /// What one replica does with the collection.
  struct Write: Sendable {
    enum Operation: Sendable {
      case set(String, json: String, expires: Date?)
      case merge(String, json: String)
      case add(Int, member: String, String)
      case insert(JSON, member: String, String)
      case remove(JSON, member: String, String)
      case expire(String, at: Date?)
      case delete(String)
      case drop
    }

    let replica: String
    let operation: Operation
    let members: [Document.Member]
    let refused: String?
  }

  case write(Write)
  case sweep(replica: String, count: Int)
  case exchange
  case send(from: String, to: String)
  case advance(replica: String?, milliseconds: Int64)
  case compact(replica: String)
  case expect(DocumentVectorExpectation)

  private enum CodingKeys: CodingKey, CaseIterable {
    case on, set, merge, add, insert, remove, expire, delete, drop, json, expires, at, to, value, counters, sets,
      refused
    case sweep, exchange, send, advance, clock, compact, expect
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String { try fields.decode(String.self, forKey: key) }
    if fields.contains(.expect) {
      self = .expect(try fields.decode(DocumentVectorExpectation.self, forKey: .expect))
    } else if fields.contains(.sweep) {
      self = .sweep(replica: try text(.on), count: try fields.decode(Int.self, forKey: .sweep))
    } else if fields.contains(.send) {
      self = .send(from: try text(.send), to: try text(.to))
    } else if fields.contains(.advance) {
      self = .advance(
        replica: try fields.decodeIfPresent(String.self, forKey: .clock),
        milliseconds: try fields.decode(Int64.self, forKey: .advance))
    } else if fields.contains(.compact) {
      self = .compact(replica: try text(.compact))
    } else if fields.contains(.exchange) {
      _ = try fields.decode(Bool.self, forKey: .exchange)
      self = .exchange
    } else {
      let counters = try fields.decodeIfPresent([String].self, forKey: .counters) ?? []
      let sets = try fields.decodeIfPresent([String].self, forKey: .sets) ?? []
      self = .write(
        Write(
          replica: try text(.on), operation: try Self.operation(fields),
          members: counters.map { .counter($0) } + sets.map { .set($0) },
          refused: try fields.decodeIfPresent(String.self, forKey: .refused)))
    }
  }

  private static func operation(_ fields: KeyedDecodingContainer<CodingKeys>) throws -> Write.Operation {
    func text(_ key: CodingKeys) throws -> String { try fields.decode(String.self, forKey: key) }
    func date(_ key: CodingKeys) throws -> Date? {
      try fields.decodeIfPresent(Int64.self, forKey: key).map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }
    if fields.contains(.set) { return .set(try text(.set), json: try text(.json), expires: try date(.expires)) }
    if fields.contains(.merge) { return .merge(try text(.merge), json: try text(.json)) }
    if fields.contains(.add) {
      return .add(try fields.decode(Int.self, forKey: .value), member: try text(.add), try text(.to))
    }
    if fields.contains(.insert) {
      return .insert(try fields.decode(JSON.self, forKey: .value), member: try text(.insert), try text(.to))
    }
    if fields.contains(.remove) {
      return .remove(try fields.decode(JSON.self, forKey: .value), member: try text(.remove), try text(.to))
    }
    if fields.contains(.expire) { return .expire(try text(.expire), at: try date(.at)) }
    if fields.contains(.delete) { return .delete(try text(.delete)) }
    _ = try fields.decode(Bool.self, forKey: .drop)
    return .drop
  }
}

/// What a collection is on replicas; what is left out is not compared.
struct DocumentVectorExpectation: Decodable, Sendable {
  /// All of them when left out.
  let on: [String]?
  /// All documents by key, as JSON text.
  let documents: [String: String]?
  /// When documents expire, in milliseconds since 1970 UTC.
  let expiries: [String: Int64]
  let table: String?
  /// The columns of the table behind key and expiry, in any order.
  let columns: [String]?
  /// All rows by key, expired ones too: the columns that are not NULL, but for the key.
  let rows: [String: [String: VectorValue]]?
  /// Conditions and the keys that meet them.
  let keys: [String: [String]]
  let conflicts: [VectorExpectation.Conflict]?

  private enum CodingKeys: CodingKey, CaseIterable {
    case on, documents, expiries, table, columns, rows, keys, conflicts
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    on = try fields.decodeIfPresent([String].self, forKey: .on)
    documents = try fields.decodeIfPresent([String: String].self, forKey: .documents)
    expiries = try fields.decodeIfPresent([String: Int64].self, forKey: .expiries) ?? [:]
    table = try fields.decodeIfPresent(String.self, forKey: .table)
    columns = try fields.decodeIfPresent([String].self, forKey: .columns)
    rows = try fields.decodeIfPresent([String: [String: VectorValue]].self, forKey: .rows)
    keys = try fields.decodeIfPresent([String: [String]].self, forKey: .keys) ?? [:]
    conflicts = try fields.decodeIfPresent([VectorExpectation.Conflict].self, forKey: .conflicts)
  }
}

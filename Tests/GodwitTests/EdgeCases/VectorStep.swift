import Godwit

/// One step of a merge vector (Specs/vectors/README.md, "Steps").
indirect enum VectorStep: Decodable, Sendable {
  case write(replica: String, operations: [VectorOperation], sameTime: Bool, refused: String?)
  case send(from: String, to: String, all: Bool, times: Int, report: VectorReport?)
  case keep(file: String, from: String, member: String?, all: Bool)
  case deliver(file: String, to: String, rejoins: Bool, report: VectorReport?)
  case kill(file: String, to: String)
  case atOnce([VectorStep])
  case exchange
  case clock(replica: String, milliseconds: Int64)
  case restart(replica: String)
  case copy(replica: String, name: String)
  case compact(replica: String)
  case remove(replica: String, by: String)
  case readmit(replica: String, by: String)
  case expect(VectorExpectation)

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case on, write, sameTime, refused
    case send, to, all, times, report
    case keep, from, deliver, rejoin, kill, atOnce, remove, readmit, by, exchange, clock, advance, restart, copy,
      compact, expect
    case member = "for"
    case name = "as"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String { try fields.decode(String.self, forKey: key) }
    func flag(_ key: CodingKeys) throws -> Bool { try fields.decodeIfPresent(Bool.self, forKey: key) ?? false }
    let report = try fields.decodeIfPresent(VectorReport.self, forKey: .report)
    if fields.contains(.write) {
      self = .write(
        replica: try text(.on), operations: try fields.decode([VectorOperation].self, forKey: .write),
        sameTime: try flag(.sameTime), refused: try fields.decodeIfPresent(String.self, forKey: .refused))
    } else if fields.contains(.send) {
      self = .send(
        from: try text(.send), to: try text(.to), all: try flag(.all),
        times: try fields.decodeIfPresent(Int.self, forKey: .times) ?? 1, report: report)
    } else if fields.contains(.keep) {
      self = .keep(
        file: try text(.keep), from: try text(.from), member: try fields.decodeIfPresent(String.self, forKey: .member),
        all: try flag(.all))
    } else if fields.contains(.deliver) {
      self = .deliver(file: try text(.deliver), to: try text(.to), rejoins: try flag(.rejoin), report: report)
    } else if fields.contains(.kill) {
      self = .kill(file: try text(.kill), to: try text(.to))
    } else if fields.contains(.atOnce) {
      self = .atOnce(try fields.decode([VectorStep].self, forKey: .atOnce))
    } else if fields.contains(.remove) {
      self = .remove(replica: try text(.remove), by: try text(.by))
    } else if fields.contains(.readmit) {
      self = .readmit(replica: try text(.readmit), by: try text(.by))
    } else if fields.contains(.clock) {
      self = .clock(replica: try text(.clock), milliseconds: try fields.decode(Int64.self, forKey: .advance))
    } else if fields.contains(.restart) {
      self = .restart(replica: try text(.restart))
    } else if fields.contains(.copy) {
      self = .copy(replica: try text(.copy), name: try text(.name))
    } else if fields.contains(.compact) {
      self = .compact(replica: try text(.compact))
    } else if fields.contains(.expect) {
      self = .expect(try fields.decode(VectorExpectation.self, forKey: .expect))
    } else {
      _ = try fields.decode(Bool.self, forKey: .exchange)
      self = .exchange
    }
  }
}

/// What a transaction does to one row, or what it does and takes back.
enum VectorOperation: Decodable, Sendable {
  case insert(table: String, values: [String: VectorValue])
  case update(table: String, key: [VectorValue], values: [String: VectorValue], add: [String: VectorValue])
  case delete(table: String, key: [VectorValue])
  case undone([VectorOperation])

  private enum CodingKeys: CodingKey, CaseIterable { case insert, update, delete, key, values, add, undone }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    func values(_ key: CodingKeys) throws -> [String: VectorValue] {
      try fields.decodeIfPresent([String: VectorValue].self, forKey: key) ?? [:]
    }
    func key() throws -> [VectorValue] { try fields.decode([VectorValue].self, forKey: .key) }
    if let table = try fields.decodeIfPresent(String.self, forKey: .insert) {
      self = .insert(table: table, values: try values(.values))
    } else if let table = try fields.decodeIfPresent(String.self, forKey: .update) {
      self = .update(table: table, key: try key(), values: try values(.values), add: try values(.add))
    } else if let table = try fields.decodeIfPresent(String.self, forKey: .delete) {
      self = .delete(table: table, key: try key())
    } else {
      self = .undone(try fields.decode([VectorOperation].self, forKey: .undone))
    }
  }
}

/// What an import says of itself; what is left out is not compared.
struct VectorReport: Decodable, Sendable {
  struct Missing: Decodable, Hashable, Sendable {
    let of: String
    let first: UInt64
    let last: UInt64
  }

  let applied: Int?
  let duplicates: Int?
  let staged: Int?
  let missing: [Missing]?
  /// The error's code; nothing of the file is applied then.
  let refused: String?

  private enum CodingKeys: CodingKey, CaseIterable { case applied, duplicates, staged, missing, refused }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    applied = try fields.decodeIfPresent(Int.self, forKey: .applied)
    duplicates = try fields.decodeIfPresent(Int.self, forKey: .duplicates)
    staged = try fields.decodeIfPresent(Int.self, forKey: .staged)
    missing = try fields.decodeIfPresent([Missing].self, forKey: .missing)
    refused = try fields.decodeIfPresent(String.self, forKey: .refused)
  }
}

/// What replicas hold; what is left out is not compared.
struct VectorExpectation: Decodable, Sendable {
  struct Conflict: Decodable, Hashable, Sendable {
    let kind: String
    let table: String
    let key: [VectorValue]
    let column: String?
    let losing: VectorValue?
    let winning: VectorValue?
  }

  /// All of them when left out.
  let on: [String]?
  let rows: [String: [[VectorValue]]]
  let conflicts: [Conflict]?
  let mayConflict: [Conflict]
  let limbo: [String: [[VectorValue]]]?
  /// All transactions held, of whatever origin.
  let transactions: Int?
  /// Those of them that the log still has.
  let logged: Int?
  let staged: Int?

  private enum CodingKeys: CodingKey, CaseIterable {
    case on, rows, conflicts, mayConflict, limbo, transactions, logged, staged
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    on = try fields.decodeIfPresent([String].self, forKey: .on)
    rows = try fields.decodeIfPresent([String: [[VectorValue]]].self, forKey: .rows) ?? [:]
    conflicts = try fields.decodeIfPresent([Conflict].self, forKey: .conflicts)
    mayConflict = try fields.decodeIfPresent([Conflict].self, forKey: .mayConflict) ?? []
    limbo = try fields.decodeIfPresent([String: [[VectorValue]]].self, forKey: .limbo)
    transactions = try fields.decodeIfPresent(Int.self, forKey: .transactions)
    logged = try fields.decodeIfPresent(Int.self, forKey: .logged)
    staged = try fields.decodeIfPresent(Int.self, forKey: .staged)
  }
}

import Godwit
import GodwitBase
import GodwitModel
import GodwitCore
import Testing

/// Runs a merge vector on real replicas and compares what comes of it.
struct VectorRun {
  let vector: MergeVector
  /// The order of hand-over: the vector's own, or one of the generator's.
  let seed: UInt64?
  private let group: VectorGroup
  private var random: SeededGenerator

  /// Returns the replicas as the vector leaves them, for the caller to close.
  static func run(_ vector: MergeVector, seed: UInt64?) async throws -> VectorGroup {
    var run = VectorRun(vector: vector, seed: seed, group: try await VectorGroup(vector))
    for (number, step) in vector.steps.enumerated() { try await run.run(step, number + 1) }
    return run.group
  }

  private init(vector: MergeVector, seed: UInt64?, group: VectorGroup) {
    self.vector = vector
    self.seed = seed
    self.group = group
    random = SeededGenerator(seed: seed ?? 0)
  }

  private func comment(_ step: Int, _ more: String = "") -> Comment {
    "\(vector.title): step \(step), \(seed.map { "order \($0)" } ?? "plain order"); \(more)"
  }

  private mutating func run(_ step: VectorStep, _ number: Int) async throws {
    switch step {
    case .write(let name, let operations, let sameTime, let refused):
      if !sameTime { group.advanceAll(10) }
      let replica = try group[name].replica
      let failure = await code { try await replica.write { try Self.apply(operations, in: $0) } }
      #expect(failure.map { "\($0)" } == refused, comment(number))
    case .send(let from, let to, let all, let times, let report):
      for _ in 0..<times {
        try await group.keep("sent", from: from, for: nil, all: all)
        try await deliver("sent", to: to, report, number)
      }
    case .keep(let file, let from, let member, let all): try await group.keep(file, from: from, for: member, all: all)
    case .deliver(let file, let to, let rejoins, let report):
      try await deliver(file, to: to, rejoins: rejoins, report, number)
    case .kill(let file, let to):
      for problem in try await group.kill(file, to: to) { Issue.record("\(comment(number, problem))") }
    case .atOnce(let steps): try await runAtOnce(steps)
    case .remove(let name, let by):
      let member = try group[name].member
      group.advanceAll(10)
      try await group[by].replica.members.remove(member)
    case .readmit(let name, let by): try await group.readmit(name, by: by)
    case .exchange:
      try await group.exchange(&random, isPlain: seed == nil)
      try await expectSound(number)
    case .clock(let name, let milliseconds): try group[name].clock.advance(milliseconds)
    case .restart(let name): try await group.restart(name)
    case .copy(let name, let new): try await group.copy(name, as: new)
    case .compact(let name): try await group[name].replica.maintenance.compact()
    case .expect(let expectation):
      for name in expectation.on ?? group.names { try await compare(expectation, on: name, number) }
    }
  }

  /// Writes, exports and imports that run side by side.
  private mutating func runAtOnce(_ steps: [VectorStep]) async throws {
    var bodies: [@Sendable () async throws -> Void] = []
    for step in steps {
      switch step {
      case .write(let name, let operations, _, _):
        let replica = try group[name].replica
        bodies.append { try await replica.write { try Self.apply(operations, in: $0) } }
      case .keep(let file, let from, _, let all):
        let (replica, path) = (try group[from].replica, group.newPath(of: file))
        bodies.append { _ = try await replica.export(to: .file(path), includesAll: all) }
      case .deliver(let file, let to, _, _):
        let (replica, path) = (try group[to].replica, try group.path(of: file))
        bodies.append { _ = try await replica.import(from: .file(path)) }
      default: Issue.record("only writes, exports and imports run at once")
      }
    }
    if seed != nil { bodies.shuffle(using: &random) }
    group.advanceAll(10)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for body in bodies { tasks.addTask(operation: body) }
      try await tasks.waitForAll()
    }
  }

  // MARK: Writing

  private static func apply(_ operations: [VectorOperation], in transaction: Transaction) throws {
    for operation in operations {
      switch operation {
      case .insert(let table, let values): try execute(transaction, insert(table, values), expecting: 1)
      case .update(let table, let key, let values, let add):
        try execute(transaction, update(transaction, table, key, values, add), expecting: 1)
      case .delete(let table, let key):
        let (condition, bound) = try condition(transaction, table, key)
        let sql = SQL(text: "DELETE FROM \(SQLName.quoted(table)) WHERE \(condition)", values: bound)
        try execute(transaction, sql, expecting: 1)
      case .undone(let operations):
        try? transaction.savepoint {
          try apply(operations, in: transaction)
          throw CancellationError()
        }
      }
    }
  }

  private static func execute(_ transaction: Transaction, _ sql: SQL, expecting count: Int) throws {
    let changed = try transaction.execute(sql)
    guard changed == count else { throw GodwitError(.notFound, "\(sql.text) changed \(changed) rows") }
  }

  private static func insert(_ table: String, _ values: [String: VectorValue]) -> SQL {
    let columns = values.keys.sorted()
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    let names = columns.map(SQLName.quoted).joined(separator: ", ")
    return SQL(
      text: "INSERT INTO \(SQLName.quoted(table)) (\(names)) VALUES (\(places))",
      values: columns.compactMap { values[$0]?.value })
  }

  private static func update(
    _ transaction: Transaction, _ table: String, _ key: [VectorValue], _ values: [String: VectorValue],
    _ add: [String: VectorValue]
  ) throws -> SQL {
    let set = values.keys.sorted().map { "\(SQLName.quoted($0)) = ?" }
    let added = add.keys.sorted().map { "\(SQLName.quoted($0)) = \(SQLName.quoted($0)) + ?" }
    let (condition, bound) = try condition(transaction, table, key)
    return SQL(
      text: "UPDATE \(SQLName.quoted(table)) SET \((set + added).joined(separator: ", ")) WHERE \(condition)",
      values: values.keys.sorted().compactMap { values[$0]?.value } + add.keys.sorted().compactMap { add[$0]?.value }
        + bound)
  }

  private static func condition(
    _ transaction: Transaction, _ table: String, _ key: [VectorValue]
  ) throws -> (String, [Value]) {
    let names = try keyColumns(transaction, table).map { "\(SQLName.quoted($0)) = ?" }
    return (names.joined(separator: " AND "), key.map(\.value))
  }

  private static func keyColumns(_ transaction: Transaction, _ table: String) throws -> [String] {
    let sql: SQL = "SELECT definition FROM godwit_table WHERE name = \(Value.text(table))"
    guard case .blob(let bytes)? = try transaction.rows(sql).first?.values.first else {
      throw GodwitError(.notInSchema, "no table \(table)")
    }
    var reader = ByteReader(bytes)
    let definition = try TableDefinition(reading: &reader)
    return definition.columns.prefix(definition.keyCount).map(\.name)
  }

  // MARK: Comparing

  private func deliver(
    _ file: String, to name: String, rejoins: Bool = false, _ expected: VectorReport?, _ step: Int
  ) async throws {
    if let refused = expected?.refused {
      let before = try await group[name].replica.maintenance.digest()
      #expect(await code { try await group.deliver(file, to: name) }.map { "\($0)" } == refused, comment(step))
      #expect(try await group[name].replica.maintenance.digest() == before, comment(step))
      return
    }
    let report = try await group.deliver(file, to: name, rejoins: rejoins)
    guard let expected else { return }
    if let applied = expected.applied { #expect(report.applied.transactions == applied, comment(step)) }
    if let duplicates = expected.duplicates { #expect(report.applied.duplicates == duplicates, comment(step)) }
    if let staged = expected.staged { #expect(report.waiting.transactions == staged, comment(step)) }
    if let missing = expected.missing {
      let found = report.waiting.missing.map {
        VectorReport.Missing(
          of: group.name(of: $0.replica), first: $0.sequences.lowerBound, last: $0.sequences.upperBound)
      }
      #expect(Set(found) == Set(missing), comment(step))
    }
  }

  /// What must hold after every exchange, whatever the vector is about.
  private func expectSound(_ step: Int) async throws {
    var digests: Set<String> = []
    for name in group.names {
      let replica = try group[name].replica
      digests.insert(try await replica.maintenance.digest())
      #expect(try await replica.maintenance.verify().problems == [], comment(step, "on \(name)"))
    }
    if vector.ownTables.isEmpty { #expect(digests.count == 1, comment(step, "the replicas differ")) }
  }

  private func compare(_ expected: VectorExpectation, on name: String, _ step: Int) async throws {
    let replica = try group[name].replica
    for (table, rows) in expected.rows.sorted(by: { $0.key < $1.key }) {
      let names = vector.columns(of: table).map(SQLName.quoted).joined(separator: ", ")
      let found = try await replica.rows(SQL(text: "SELECT \(names) FROM \(SQLName.quoted(table))")).map(\.values)
      expectSame(found, rows.map { $0.map(\.value) }, comment(step, "\(table) on \(name)"))
    }
    if let limbo = expected.limbo {
      let found = try await replica.rowsInLimbo()
      for table in Set(limbo.keys).union(found.keys) {
        expectSame(
          found[table] ?? [], (limbo[table] ?? []).map { $0.map(\.value) },
          comment(step, "limbo of \(table) on \(name)"))
      }
    }
    if let conflicts = expected.conflicts {
      let wanted = Set(conflicts.map(Self.line))
      let allowed = Set(expected.mayConflict.map(Self.line))
      let found = Set(try await replica.conflicts.list(limit: 1_000).map(Self.line)).subtracting(allowed)
      #expect(found.sorted() == wanted.sorted(), comment(step, "conflicts on \(name)"))
    }
    let status = try await replica.status()
    if let staged = expected.staged { #expect(status.staged == staged, comment(step, "on \(name)")) }
    if let logged = expected.logged {
      #expect(try await replica.history.log().count == logged, comment(step, "on \(name)"))
    }
    if let transactions = expected.transactions {
      let held = status.applied.reduce(0) { $0 + Int($1.sequence) }
      #expect(held == transactions, comment(step, "transactions held on \(name)"))
    }
  }

  /// The same rows, in whatever order: values of one column may be of several storage classes.
  private func expectSame(_ found: [[Value]], _ expected: [[Value]], _ comment: Comment) {
    guard Set(found) != Set(expected) || found.count != expected.count else { return }
    func lines(_ rows: [[Value]]) -> [String] { rows.map { $0.map(\.brief).joined(separator: ", ") }.sorted() }
    Issue.record("\(comment): found \(lines(found)), expected \(lines(expected))")
  }

  static func line(_ conflict: Conflict) -> String {
    line(
      "\(conflict.kind)", conflict.table, conflict.key, conflict.column, conflict.losingValue, conflict.winningValue)
  }

  static func line(_ conflict: VectorExpectation.Conflict) -> String {
    line(
      conflict.kind, conflict.table, conflict.key.map(\.value), conflict.column, conflict.losing?.value ?? .null,
      conflict.winning?.value ?? .null)
  }

  private static func line(
    _ kind: String, _ table: String, _ key: [Value], _ column: String?, _ losing: Value, _ winning: Value
  ) -> String {
    let keys = key.map(\.brief).joined(separator: ", ")
    return "\(kind) \(table) (\(keys)) \(column ?? "-"): \(losing.brief) lost to \(winning.brief)"
  }
}

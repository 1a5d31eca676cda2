import Foundation
import Godwit
import GodwitModel
import Testing

@Suite("Specs/vectors/documents")
struct DocumentVectorTests {
  @Test("leads to what the file says", arguments: VectorFile.all(in: "documents"))
  func plain(file: VectorFile) async throws {
    let vector = try file.decode(DocumentVector.self)
    let group = try await VectorGroup(names: vector.replicas)
    for (number, step) in vector.steps.enumerated() {
      try await DocumentVectorRun(vector: vector, group: group, number: number + 1).run(step)
    }
    await group.close()
  }

  @Test("there are files, each of which expects something")
  func files() throws {
    let files = VectorFile.all(in: "documents")
    #expect(files.count >= 20)
    for file in files {
      let steps = try file.decode(DocumentVector.self).steps
      #expect(steps.contains { if case .expect = $0 { true } else { false } }, "\(file.name)")
    }
  }
}

/// Runs one step of a document vector on real replicas and compares what comes of it.
private struct DocumentVectorRun {
  let vector: DocumentVector
  let group: VectorGroup
  let number: Int

  private func comment(_ more: String = "") -> Comment { "\(vector.title): step \(number) \(more)" }

  private func documents(on name: String, _ members: [Document.Member] = []) throws -> Documents {
    try group[name].replica.documents(vector.collection, members: members)
  }

  func run(_ step: DocumentVectorStep) async throws {
    switch step {
    case .write(let write):
      let before = try await group[write.replica].replica.maintenance.digest()
      let failure = await code { try await self.write(write) }
      #expect(failure.map { "\($0)" } == write.refused, comment())
      if write.refused != nil {
        #expect(try await group[write.replica].replica.maintenance.digest() == before, comment())
      }
    case .sweep(let name, let count): #expect(try await group[name].replica.maintenance.sweep() == count, comment())
    case .exchange:
      var order = SeededGenerator(seed: 0)
      try await group.exchange(&order, isPlain: true)
      var digests: Set<String> = []
      for name in group.names {
        digests.insert(try await group[name].replica.maintenance.digest())
        #expect(try await group[name].replica.maintenance.verify().problems == [], comment("on \(name)"))
      }
      #expect(digests.count == 1, comment("the replicas differ"))
    case .send(let sender, let receiver):
      try await group.keep("sent", from: sender, for: nil, all: false)
      _ = try await group.deliver("sent", to: receiver)
    case .advance(let name, let milliseconds):
      if let name { try group[name].clock.advance(milliseconds) } else { group.advanceAll(milliseconds) }
    case .compact(let name): try await group[name].replica.maintenance.compact()
    case .expect(let expectation):
      for name in expectation.on ?? group.names { try await compare(expectation, on: name) }
    }
  }

  private func write(_ write: DocumentVectorStep.Write) async throws {
    let documents = try documents(on: write.replica, write.members)
    switch write.operation {
    case .set(let key, let json, let expires): try await documents.set(key, json: json, expires: expires)
    case .merge(let key, let json): try await documents.merge(key, json: json)
    case .add(let amount, let member, let key): try await documents.add(amount, to: member, of: key)
    case .insert(let element, let member, let key): try await documents.insert(element, into: member, of: key)
    case .remove(let element, let member, let key): try await documents.remove(element, from: member, of: key)
    case .expire(let key, let instant): try await documents.expire(key, at: instant)
    case .delete(let key): try await documents.delete(key)
    case .drop: try await documents.drop()
    }
  }

  // MARK: Comparing

  private func compare(_ expected: DocumentVectorExpectation, on name: String) async throws {
    let replica = try group[name].replica
    let documents = try documents(on: name)
    if let wanted = expected.documents {
      var found: [String: String] = [:]
      for key in try await documents.keys() { found[key] = try await documents.json(key) }
      expectSame(found, wanted, comment("documents on \(name)"))
      // Every form of reading shows the same.
      for document in try await replica.fetch(documents.all) {
        expectSame(
          ["": document.json], ["": wanted[document.key] ?? ""], comment("members of \(document.key) on \(name)"))
      }
    }
    for (key, instant) in expected.expiries {
      let found = try await documents.expiry(of: key)
      #expect(found == Date(timeIntervalSince1970: Double(instant) / 1_000), comment("expiry of \(key) on \(name)"))
    }
    for (condition, keys) in expected.keys {
      #expect(try await documents.keys(where: condition) == keys, comment("\(condition) on \(name)"))
    }
    if let table = expected.table { #expect(try documents.table == table, comment()) }
    try await compareRows(expected, try documents.table, replica, name)
    if let conflicts = expected.conflicts {
      let found = Set(try await replica.conflicts.list(limit: 1_000).map(VectorRun.line))
      #expect(found.sorted() == Set(conflicts.map(VectorRun.line)).sorted(), comment("conflicts on \(name)"))
    }
  }

  private func compareRows(
    _ expected: DocumentVectorExpectation, _ table: String, _ replica: Replica, _ name: String
  ) async throws {
    if let columns = expected.columns {
      let info = try await replica.rows(SQL(text: "PRAGMA table_info(\(SQLName.quoted(table)))"))
      let names = info.compactMap { row in if case .text(let name)? = row["name"] { name } else { nil } }
      #expect(names.prefix(2) == ["_key", "_expires"], comment("columns on \(name)"))
      #expect(names.dropFirst(2).sorted() == columns.sorted(), comment("columns on \(name)"))
    }
    guard let wanted = expected.rows else { return }
    var lines: [String: String] = [:]
    for row in try await replica.rows(SQL(text: "SELECT * FROM \(SQLName.quoted(table))")) {
      let cells = zip(row.columns, row.values).dropFirst().filter { $0.1 != .null }
      lines[row.values.first?.brief ?? ""] = Self.line(cells.map { ($0, $1) })
    }
    let wantedLines = wanted.map { (Value.text($0).brief, Self.line($1.map { ($0, $1.value) })) }
    expectSame(lines, Dictionary(uniqueKeysWithValues: wantedLines), comment("rows on \(name)"))
  }

  private static func line(_ cells: [(String, Value)]) -> String {
    cells.sorted { $0.0 < $1.0 }.map { "\($0.0)=\($0.1.brief)" }.joined(separator: ", ")
  }

  /// Byte by byte: Swift holds forms of one text for the same.
  private func expectSame(_ found: [String: String], _ expected: [String: String], _ comment: Comment) {
    func lines(_ texts: [String: String]) -> [String] {
      texts.map { "\($0): \($1)".unicodeScalars.map { $0.escaped(asASCII: true) }.joined() }.sorted()
    }
    #expect(lines(found) == lines(expected), comment)
  }
}

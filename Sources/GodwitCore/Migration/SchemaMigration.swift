import GodwitBase

/// One version of a schema: the steps that lead to it from the version before.
package struct SchemaMigration: Hashable, Sendable {
  /// 1, 2, 3 … Version 0 is a database without migrations.
  package let version: UInt64
  package let name: String
  package let steps: [SchemaStep]

  package static let versionLimit = 1_024
  package static let stepLimit = 1_024
  package static let byteLimit = 1 << 20
  /// What canonical bytes begin with. In form 1 data steps brought their SQL along.
  private static let form: UInt8 = 2

  package init(version: UInt64, name: String, steps: [SchemaStep]) {
    self.version = version
    self.name = name
    self.steps = steps
  }

  /// The canonical bytes, of which the checksum is the SHA-256 (Specs/migration-forms.md, "Canonical form").
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 256)
    writer.byte(Self.form)
    writer.varint(version)
    writer.string(name)
    writer.varint(steps.count)
    for step in steps { step.write(to: &writer) }
    return writer.bytes
  }

  package init(bytes: ArraySlice<UInt8>) throws {
    guard bytes.count <= Self.byteLimit else {
      throw GodwitError(.limitExceeded, "a migration is larger than \(Self.byteLimit) bytes")
    }
    var reader = ByteReader(bytes)
    let form = try reader.byte()
    guard form == Self.form else {
      throw GodwitError(
        .unsupportedVersion, "a migration is of form \(form), and this version reads form \(Self.form)",
        hint: form < Self.form ? "an earlier version wrote it: begin a new group" : "update the program")
    }
    version = try reader.varint()
    name = try reader.string(limit: TableDefinition.nameByteLimit)
    let count = try reader.count(limit: Self.stepLimit, "steps of a migration")
    steps = try (0..<count).map { _ in try SchemaStep(reading: &reader) }
    try reader.expectEnd()
    try validate()
  }

  private var titleHint: String { "use 1 to 128 bytes without control, format and direction characters" }

  /// Whether it travels: all its steps are additions. Otherwise it is a barrier.
  package var isAddition: Bool { steps.allSatisfy(\.isAddition) }

  /// What can be said without the tables.
  package func validate() throws {
    func invalid(_ what: String, hint: String? = nil) -> GodwitError {
      GodwitError(.invalidMigration, "migration \(version) \(what)", hint: hint)
    }
    guard SchemaName.isTitle(name) else {
      throw invalid("has a name that is empty, too long or holds characters that nobody sees", hint: titleHint)
    }
    for case .data(let step) in steps where !SchemaName.isTitle(step.name) {
      throw invalid(
        "has a data step whose name is empty, too long or holds characters that nobody sees", hint: titleHint)
    }
    for step in steps { try step.validateExpressions() }
    guard (1...UInt64(Self.versionLimit)).contains(version) else {
      throw invalid("has a number that is not between 1 and \(Self.versionLimit)")
    }
    guard steps.count <= Self.stepLimit else { throw invalid("has more than \(Self.stepLimit) steps") }
    if let firstData = steps.firstIndex(where: \.isData), !steps[firstData...].allSatisfy(\.isData) {
      throw invalid(
        "changes tables after a data step", hint: "put the steps behind it into a migration of their own")
    }
    guard bytes.count <= Self.byteLimit else { throw invalid("is larger than \(Self.byteLimit) bytes") }
  }

  /// Its steps in words.
  package var lines: [String] { ["migration \(version) \"\(name)\""] + steps.flatMap(\.lines).map { "  \($0)" } }

  /// More lines than these are compared with no others: the time grows with their product, and another may have made
  /// them.
  private static let comparedLineLimit = 1_000

  /// What this one and the other say, line by line: `-` is only here, `+` only there. Of long ones the lines from the
  /// first difference on.
  package func difference(from other: SchemaMigration) -> [String] {
    let (here, there) = (self.lines, other.lines)
    let isLong = max(here.count, there.count) > Self.comparedLineLimit
    let start = isLong ? max(0, zip(here, there).prefix { $0 == $1 }.count - 1) : 0
    let lines = Array(here.dropFirst(start).prefix(Self.comparedLineLimit))
    let change = there.dropFirst(start).prefix(Self.comparedLineLimit).difference(from: lines)
    var result = lines.map { "  \($0)" }
    // Removals count from the end, so that the places of those before them stay.
    for case .remove(let offset, let line, _) in change.removals { result[offset] = "- \(line)" }
    var kept = result.indices.filter { !result[$0].hasPrefix("-") }.map { $0 }
    for case .insert(let offset, let line, _) in change.insertions {
      let place = offset < kept.count ? kept[offset] : result.count
      result.insert("+ \(line)", at: place)
      for index in kept.indices where kept[index] >= place { kept[index] += 1 }
      kept.insert(place, at: min(offset, kept.count))
    }
    return result
  }
}

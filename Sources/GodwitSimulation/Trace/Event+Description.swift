import Godwit

extension Event: CustomStringConvertible {
  var description: String {
    switch self {
    case .pass(let milliseconds): "pass \(milliseconds) ms"
    case .setClock(let actor, let offset): "\(actor) sets its clock to \(offset) ms"
    case .write(let actor, let plan): "\(actor) writes \(plan)"
    case .crashWriting(let actor, let plan, let statement): "\(actor) crashes after statement \(statement) of \(plan)"
    case .export(let actor, let file, let includesAll): "\(actor) exports file \(file)\(includesAll ? ", all" : "")"
    case .deliver(let file, let actor): "\(actor) imports file \(file)"
    case .crashImporting(let file, let actor, let statement):
      "\(actor) crashes after statement \(statement) of importing file \(file)"
    case .deliverDamaged(let file, let actor, let damage): "\(actor) imports file \(file), \(damage)"
    case .reopen(let actor): "\(actor) is closed and opened"
    case .check(let actor): "\(actor) is compared with the model"
    case .clone(let actor): "\(actor) is copied"
    case .backUp(let actor): "\(actor) is backed up"
    case .restore(let actor): "\(actor) is restored"
    case .upgrade(let actor): "\(actor) gets a newer program"
    case .compact(let actor): "\(actor) forgets"
    case .remove(let actor, let remover): "\(actor) is removed by \(remover)"
    case .readmit(let actor, let host, let file): "\(actor) is a member again, says \(host) with file \(file)"
    case .rejoin(let file, let actor): "\(actor) rejoins with file \(file)"
    case .halt(let event, let statement): "\(event), but crashes after statement \(statement)"
    case .attack(let actor, let attack): "\(actor) imports a hostile file, \(attack)"
    }
  }
}

extension Plan: CustomStringConvertible {
  var description: String { "{ \(steps.map(\.description).joined(separator: "; "))\(fails ? "; throw" : "") }" }
}

extension Step: CustomStringConvertible {
  var description: String {
    switch self {
    case .insert(let table, let row, let isReplacing):
      let values = row.map(\.description).joined(separator: ", ")
      return "\(isReplacing ? "replace" : "insert") \(TableShape.all[table].name) (\(values))"
    case .update(let table, let key, let assignments):
      let shape = TableShape.all[table]
      let cells = assignments.map { "\(shape.columns[$0.column].name) = \($0.value)" }.joined(separator: ", ")
      return "update \(shape.name) \(key.map(Self.text) ?? "all") set \(cells)"
    case .delete(let table, let key): return "delete \(TableShape.all[table].name) \(Self.text(key))"
    case .deleteAll(let table, let column, let value):
      let shape = TableShape.all[table]
      return "delete \(shape.name) with \(shape.columns[column].name) \(value.text)"
    case .rekey(let table, let from, let to):
      return "rename \(TableShape.all[table].name) \(Self.text(from)) to \(Self.text(to))"
    case .save(let tally): return "save tally (\(tally.map(\.text).joined(separator: ", ")))"
    case .savepoint(let steps, let rollsBack):
      let inner = steps.map(\.description).joined(separator: "; ")
      return "savepoint { \(inner) }\(rollsBack ? " rolled back" : "")"
    case .scratch(let id): return "scratch \(id)"
    }
  }

  private static func text(_ key: [Value]) -> String { key.map(\.text).joined(separator: "/") }
}

extension Operand: CustomStringConvertible {
  var description: String {
    switch self {
    case .value(let value): value.text
    case .existing(_, let first): "first from \(first.text)"
    case .plus(let number): "+ \(number)"
    }
  }
}

extension Value {
  /// As SQL would write it.
  var text: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "'\(text)'"
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}

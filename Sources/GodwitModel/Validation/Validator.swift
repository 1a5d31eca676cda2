import GodwitBase
import GodwitStorage

/// A schema's rules, bound to its columns.
package struct Validator<Root: Model>: Sendable {
  private enum Rule: Sendable {
    case record(field: String?, message: String, isValid: @Sendable (Root) -> Bool)
    /// Finds another row with the first column's value; the last parameter is the row's own key.
    case uniqueness(field: String, sql: String, columns: [Int])
    case nested(field: String, keyPath: PartialKeyPath<Root> & Sendable)
    /// The model is ``Validatable`` itself.
    case own
  }

  /// What keeps a rule from being bound is thrown when a replica opens with the schema, as all of a schema's errors
  /// are.
  private let rules: Result<[Rule], GodwitError>
  /// Whether there is nothing to judge.
  package let isEmpty: Bool

  init(
    _ declared: [Validate<Root>], table: String, columns: [Column<Root>], keyCount: Int,
    number: (PartialKeyPath<Root>) -> Int?
  ) {
    let rules = Result { () throws(GodwitError) in
      var rules: [Rule] = []
      for validate in declared {
        rules += try Self.rules(validate, table: table, columns: columns, keyCount: keyCount, number: number)
      }
      if Root.self is any Validatable.Type { rules.append(.own) }
      for column in columns where NestedValidation.applies(to: type(of: column.keyPath).valueType) {
        rules.append(.nested(field: column.name, keyPath: column.keyPath))
      }
      return rules
    }
    self.rules = rules
    if case .success(let rules) = rules { isEmpty = rules.isEmpty } else { isEmpty = false }
  }

  /// Throws `notInSchema` for a rule about a property that is no column, `invalidSchema` for one that makes no sense.
  func check() throws(GodwitError) { _ = try rules.get() }

  /// The rules the model breaks: those declared in their order, then those of its nested values.
  package func violations(of model: Root, on connection: Connection) throws -> [GodwitError.Violation] {
    try rules.get().flatMap { rule -> [GodwitError.Violation] in
      switch rule {
      case .record(let field, let message, let isValid):
        isValid(model) ? [] : [GodwitError.Violation(field: field, message)]
      case .uniqueness(let field, let sql, let columns):
        try Self.isTaken(model, sql, columns, on: connection) ? [GodwitError.Violation(field: field, "is taken")] : []
      case .nested(let field, let keyPath):
        NestedValidation.violations(of: model[keyPath: keyPath], at: field)
      case .own:
        (model as? any Validatable)?.violations ?? []
      }
    }
  }

  private static func rules(
    _ validate: Validate<Root>, table: String, columns: [Column<Root>], keyCount: Int,
    number: (PartialKeyPath<Root>) -> Int?
  ) throws(GodwitError) -> [Rule] {
    func column(_ keyPath: PartialKeyPath<Root>) throws(GodwitError) -> Int {
      if let number = number(keyPath) { return number }
      throw GodwitError(
        .notInSchema, "a rule of table \(table) is about a property that is no column",
        hint: "give the field a name, as in Validate(\"name\", \\.property, …); uniqueness needs columns")
    }
    var field = validate.name
    if field == nil, let keyPath = validate.keyPath { field = columns[try column(keyPath)].name }
    var rules: [Rule] = []
    for check in validate.checks {
      switch (check, validate.keyPath) {
      case (.record(let message, let isValid), _):
        rules.append(.record(field: field, message: message, isValid: isValid))
      case (.uniqueness(let scope), let keyPath?):
        var numbers = [try column(keyPath)]
        for keyPath in scope { numbers.append(try column(keyPath)) }
        let names = numbers.map { SQLName.quoted(columns[$0].name) }
        let conditions = names.enumerated().map { $0 == 0 ? "\($1) = ?" : "\($1) IS ?" }
        let keys = columns.indices.prefix(keyCount)
        let ownRow = keys.map { "\(SQLName.quoted(columns[$0].name)) = ?" }.joined(separator: " AND ")
        let sql = """
          SELECT 1 FROM \(SQLName.quoted(table)) WHERE \(conditions.joined(separator: " AND ")) AND NOT (\(ownRow)) LIMIT 1
          """
        rules.append(.uniqueness(field: field ?? columns[numbers[0]].name, sql: sql, columns: numbers + keys))
      case (.uniqueness, nil): continue
      case (.malformed(let error), _): throw error
      }
    }
    return rules
  }

  private static func isTaken(
    _ model: Root, _ sql: String, _ columns: [Int], on connection: Connection
  ) throws -> Bool {
    let values = try Root.schema.layout.values(of: model, in: columns)
    guard values.first != .null else { return false }
    return try connection.withStatement(sql) { statement in
      try statement.bind(values)
      return try statement.step()
    }
  }
}

extension Connection {
  /// The rules of its schema that the model breaks.
  package func violations<Root: Model>(of model: Root) throws -> [GodwitError.Violation] {
    try Root.schema.validator.violations(of: model, on: self)
  }

  /// Throws `validationFailed` with everything that is wrong with the model.
  package func validate<Root: Model>(_ model: Root) throws {
    let violations = try violations(of: model)
    guard !violations.isEmpty else { return }
    let list = violations.map(\.description).joined(separator: "; ")
    throw GodwitError(
      .validationFailed, "a row of table \(Root.schema.table) breaks its rules: \(list)", violations: violations)
  }
}

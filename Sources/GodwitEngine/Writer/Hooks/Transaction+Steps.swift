import GodwitBase
import GodwitModel
import GodwitStorage

// Writes of models with hooks or rules (Specs/validation.md).
extension Transaction {
  func insert<Root: Model>(_ model: Root, _ steps: WriteSteps) throws -> Root {
    var model = model
    try whole(Root.self, steps) {
      try run(.willSave, &model, steps)
      try insertJudged(&model, steps)
    }
    return model
  }

  func update<Root: Model>(_ model: Root, _ steps: WriteSteps) throws -> Bool {
    var model = model
    return try whole(Root.self, steps) {
      try run(.willSave, &model, steps)
      return try updateJudged(&model, steps) { try models.update($0) }
    }
  }

  func save<Root: Model>(_ model: inout Root, _ steps: WriteSteps) throws -> Bool {
    try whole(Root.self, steps) {
      try run(.willSave, &model, steps)
      if try models.contains(model) { return try updateJudged(&model, steps) { try models.save(&$0) } }
      try insertJudged(&model, steps)
      return true
    }
  }

  /// Hooks and rules see the row as it will be; written are the columns asked for and those that hooks change.
  func save<Root: Model>(_ model: Root, columns: [Int], _ steps: WriteSteps) throws -> Bool {
    guard var merged = try connection.fetch(Root.self, key: model.id) else {
      _ = try insert(model, steps)
      return true
    }
    let schema = Root.schema
    for column in columns { schema.columns[column].copy(from: model, to: &merged) }
    let all = Array(schema.columns.indices)
    let before = try schema.layout.values(of: merged, in: all)
    return try whole(Root.self, steps) {
      try run(.willSave, &merged, steps)
      return try updateJudged(&merged, steps) { model in
        let after = try schema.layout.values(of: model, in: all)
        let written = all.filter { columns.contains($0) || before[$0] != after[$0] }
        // A hook deleted the row; a plain update says so in its own words.
        return try models.update(model, columns: written) ?? models.update(model)
      }
    }
  }

  func delete<Root: Model>(_ type: Root.Type, key: Root.ID, _ steps: WriteSteps) throws -> Bool {
    guard steps.hooks != nil else { return try models.delete(type, key: key) }
    guard var model = try connection.fetch(type, key: key) else { return false }
    return try whole(type, steps) {
      try run(.willDelete, &model, steps)
      guard try models.delete(type, key: key) else { return false }
      try run(.didDelete, &model, steps)
      return true
    }
  }

  private func insertJudged<Root: Model>(_ model: inout Root, _ steps: WriteSteps) throws {
    try run(.willInsert, &model, steps)
    if steps.isValidated { try connection.validate(model) }
    model = try models.insert(model)
    try run(.didInsert, &model, steps)
    try run(.didSave, &model, steps)
  }

  private func updateJudged<Root: Model>(
    _ model: inout Root, _ steps: WriteSteps, write: (inout Root) throws -> Bool
  ) throws -> Bool {
    try run(.willUpdate, &model, steps)
    if steps.isValidated { try connection.validate(model) }
    let hasChanged = try write(&model)
    try run(.didUpdate, &model, steps)
    try run(.didSave, &model, steps)
    return hasChanged
  }

  /// Makes a write and what its hooks do one thing, so that a refusal takes all of it back.
  private func whole<Root: Model, Output>(
    _ type: Root.Type, _ steps: WriteSteps, _ body: () throws -> Output
  ) throws -> Output {
    guard steps.hooks != nil else { return try body() }
    guard hookDepth < Self.deepestHook else {
      throw GodwitError(
        .hooksTooDeep,
        "hooks write rows whose hooks write rows, more than \(Self.deepestHook) deep, now in table \(Root.schema.table)",
        hint: "let a hook write only when there is something left to do")
    }
    hookDepth += 1
    defer { hookDepth -= 1 }
    return try savepoint(body)
  }

  private func run<Root: Model>(_ hook: Hook, _ model: inout Root, _ steps: WriteSteps) throws {
    guard let hooks = steps.hooks else { return }
    try withUnsafeMutablePointer(to: &model) { try hooks.run(hook, at: UnsafeMutableRawPointer($0), in: self) }
    // What a hook ran, and took no notice of, may have rolled everything back.
    try checkIsOpen()
  }
}

extension Reader {
  /// The rules of its schema that the model breaks, as `validationFailed` would list them. Runs no
  /// hooks, and takes the rows that this reader sees for uniqueness.
  public func violations<Root: Model>(of model: Root) throws -> [GodwitError.Violation] {
    try checkIsOpen()
    return try connection.violations(of: model)
  }
}

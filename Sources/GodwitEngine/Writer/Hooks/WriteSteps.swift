import GodwitModel

/// What writing a model involves besides writing it.
struct WriteSteps {
  let hooks: (any ModelHooks.Type)?
  let isValidated: Bool

  /// Nil for a model that is only written.
  init?<Root: Model>(_ type: Root.Type) {
    hooks = type as? any ModelHooks.Type
    isValidated = !Root.schema.validator.isEmpty
    if hooks == nil, !isValidated { return nil }
  }
}

/// The steps of every model written so far. Most rows are of the same model as the one before, or need no steps.
final class WriteStepsCache {
  private var latestPlain: ObjectIdentifier?
  private var known: [ObjectIdentifier: WriteSteps?] = [:]

  func steps<Root: Model>(for type: Root.Type) -> WriteSteps? {
    let identifier = ObjectIdentifier(type)
    return identifier == latestPlain ? nil : find(type, identifier)
  }

  private func find<Root: Model>(_ type: Root.Type, _ identifier: ObjectIdentifier) -> WriteSteps? {
    let steps = known[identifier] ?? WriteSteps(type)
    known[identifier] = .some(steps)
    if steps == nil { latestPlain = identifier }
    return steps
  }
}

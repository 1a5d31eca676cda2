import GodwitBase
import GodwitCore

extension [any Model.Type] {
  /// The tables of the models a replica is opened with. Throws `invalidSchema` when two of the models have one table,
  /// or what ``Schema/definition()`` throws. A model may refer to one that is not in the list: its table may be there
  /// already.
  package func tableDefinitions() throws -> [TableDefinition] {
    var owners: [String: any Model.Type] = [:]
    return try map { model in
      let definition = try model.tableDefinition()
      if let other = owners.updateValue(model, forKey: definition.name.lowercased()), other != model {
        throw GodwitError(
          .invalidSchema, "table \(definition.name) belongs to two models, \(other) and \(model)",
          hint: "open the replica with one of them, or give the other's schema another name")
      }
      return definition
    }
  }
}

extension Model {
  /// The table as data, for a list of models of different types.
  fileprivate static func tableDefinition() throws -> TableDefinition { try schema.definition() }
}

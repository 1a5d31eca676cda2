import GodwitBase

/// A column of a model inside a condition.
public struct Field<Root: Model, Property: ColumnValue>: Sendable {
  let name: Result<String, GodwitError>

  func predicate(_ template: (String) throws -> (String, [Value])) -> Predicate<Root> {
    Predicate(
      name.flatMap { name in
        do {
          let (text, values) = try template(name)
          return .success(SQL(text: text, values: values))
        } catch let error as GodwitError {
          return .failure(error)
        } catch {
          return .failure(GodwitError(.valueNotStorable, "a value cannot be compared", underlying: error))
        }
      })
  }

  func compare(_ operation: String, _ value: some ColumnValue) -> Predicate<Root> {
    predicate { ("\($0) \(operation) ?", [try value.storedValue()]) }
  }
}

/// Names a model's columns by property: the `$0` of ``Model/where(_:)``.
@dynamicMemberLookup
public struct Fields<Root: Model>: Sendable {
  /// The column that stores the property. A property that is no column is a `notInSchema` error when the query runs.
  public subscript<Property: ColumnValue>(
    dynamicMember keyPath: KeyPath<Root, Property>
  ) -> Field<Root, Property> {
    let schema = Root.schema
    return Field(
      name: Result { () throws(GodwitError) in
        let number = try schema.column(for: keyPath)
        return SQLName.quoted(schema.columns[number].name)
      })
  }
}

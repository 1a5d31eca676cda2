import GodwitBase
import GodwitCore
import GodwitStorage

/// Runs the conversions of migrations on single values.
package struct ValueConverter {
  /// How many bytes longer than a value what a rule makes of it may be: as long as its text may be. Only what repeats
  /// the value makes more, and a few such rules after one another would make gigabytes of kilobytes.
  package static let addedByteLimit = ExpressionLanguage.byteLimit

  private let connection: Connection

  package init(connection: Connection) { self.connection = connection }

  /// What the conversions make of a value, one after another. It has lost something when one of them did.
  package func convert(_ value: Value, by conversions: [Conversion]) throws -> Conversion.Outcome {
    var outcome = Conversion.Outcome(value: value)
    for conversion in conversions {
      let next = try conversion.apply(outcome.value, evaluate: evaluate)
      outcome.value = next.value
      outcome.loses = outcome.loses || next.loses
      outcome.isFallback = outcome.isFallback || next.isFallback && next.loses
    }
    return outcome
  }

  /// Nil where the expression comes to no result, or to one that is too long.
  private func evaluate(_ expression: String, _ name: String, _ value: Value) throws -> Value? {
    do {
      let result = try ExpressionTrial.value(of: expression, over: name, value, on: connection)
      return result.byteCount <= value.byteCount + Self.addedByteLimit ? result : nil
    } catch let error as GodwitError where error.code == .constraint {
      return nil
    }
  }
}

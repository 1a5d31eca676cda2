/// What is wrong with a text that should be JSON, and where: the cause of an `invalidDocument`.
package struct JSONFault: Error, CustomStringConvertible {
  package let problem: String
  /// From 1.
  package let line: Int
  /// In bytes, from 1.
  package let column: Int

  package var message: String { "\(problem), at line \(line), column \(column)" }
  package var description: String { "line \(line), column \(column)" }
}

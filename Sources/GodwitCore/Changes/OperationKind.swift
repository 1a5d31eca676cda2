/// What an operation does to a row.
package enum OperationKind: UInt8, Hashable, Sendable {
  case insert = 0
  case update = 1
  case delete = 2
}

import GodwitBase
import GodwitCore

/// Origins by their places in a state file's head.
package struct StateNumbering: OriginNumbering {
  private let origins: [Origin]
  private let numbers: [Origin: Int]

  package init(_ origins: [Origin]) {
    self.origins = origins
    numbers = Dictionary(uniqueKeysWithValues: origins.enumerated().map { ($1, $0) })
  }

  package func number(of origin: Origin) throws -> Int {
    guard let number = numbers[origin] else {
      throw GodwitError(
        .damagedLog, "a row was written by an origin of which nothing is held", hint: "run: godwit verify")
    }
    return number
  }

  package func origin(numbered number: Int) throws -> Origin {
    guard origins.indices.contains(number) else { throw ByteReader.malformed("an origin number in a row state") }
    return origins[number]
  }
}

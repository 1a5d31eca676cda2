import Godwit
import ToolSupport

/// Documents printed one after another, all from one state of the replica and as of one instant.
enum DocumentListing {
  /// Lines printed at a time.
  private static let batchCount = 1_000

  /// Prints a line for each document that the request finds, and returns how many there are.
  static func print(
    _ request: DocumentRequest<Document>, of reader: Reader, to console: Console, _ line: (Document) -> String
  ) throws -> Int {
    var count = 0
    var lines: [String] = []
    try reader.forEach(request) { document in
      count += 1
      lines.append(line(document))
      guard lines.count == batchCount else { return }
      try console.lines(lines)
      lines.removeAll(keepingCapacity: true)
    }
    try console.lines(lines)
    return count
  }
}

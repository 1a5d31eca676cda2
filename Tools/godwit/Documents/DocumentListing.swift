import Godwit
import ToolSupport

/// Documents as lines, all from one state of the replica and as of one instant.
struct DocumentListing {
  /// What a pager may show: who reads it may take long, and the state is not to be held meanwhile. All else has been
  /// printed.
  private(set) var lines: [String] = []
  private(set) var isEmpty = true

  /// Lines printed at a time.
  private static let batchCount = 1_000
  /// Bytes that a pager may show. A longer list is printed, however wide the screen.
  private static let pagedBytes = 8 << 20

  /// Makes a line for each document that the request finds, below the heading if there is one, and prints them as they
  /// come but for those that a pager may show.
  init(
    _ request: DocumentRequest<Document>, of reader: Reader, to console: Console, heading: String? = nil,
    _ line: (Document) -> String
  ) throws {
    var mayPage = console.hasPager
    var byteCount = 0
    if let heading { lines.append(heading) }
    try reader.forEach(request) { document in
      isEmpty = false
      let line = line(document)
      lines.append(line)
      byteCount += line.utf8.count + 1
      if byteCount > Self.pagedBytes { mayPage = false }
      if !mayPage, lines.count >= Self.batchCount { try flush(to: console) }
    }
    if !mayPage { try flush(to: console) }
  }

  private mutating func flush(to console: Console) throws {
    try console.lines(lines)
    lines.removeAll(keepingCapacity: true)
  }

  /// Shows what has not been printed.
  func show(on console: Console) async throws { try await console.pages(lines) }
}

/// The order of the engine's folders: a file names the types of its own folder and of those that stand above it.
struct FolderRule {
  static let root = "Sources/GodwitEngine/"
  /// From the bottom up.
  static let order = ["Store", "Schema", "Merge", "Capture", "Writer", "Exchange", "Upkeep"]

  /// The place in the order of the folder that declares a type.
  private let places: [Substring: Int]

  init(_ files: [SourceFile]) {
    var places: [Substring: Int] = [:]
    for file in files {
      guard let place = Self.place(of: file) else { continue }
      for line in file.lines {
        guard let match = line.prefixMatch(of: Self.declaration) else { continue }
        places[match.output.1] = place
      }
    }
    self.places = places
  }

  func breaches(in file: SourceFile) -> [Breach] {
    guard file.path.hasPrefix(Self.root) else { return [] }
    guard let own = Self.place(of: file) else {
      return [Breach(path: file.path, reason: "it is in no folder that FolderRule lists")]
    }
    return file.lines.enumerated().flatMap { number, line in
      Self.names(on: line).compactMap { name in
        guard let place = places[name], place > own else { return nil }
        return Breach(
          path: file.path, line: number + 1, reason: "\(Self.order[own]) may not use \(Self.order[place])'s \(name)")
      }
    }
  }

  private static func place(of file: SourceFile) -> Int? {
    guard file.path.hasPrefix(root) else { return nil }
    return order.firstIndex { file.path.dropFirst(root.count).hasPrefix($0 + "/") }
  }

  nonisolated(unsafe) private static let declaration =
    /(?:package |public |final |indirect )*(?:struct|class|enum|actor|protocol|typealias) (\w+)/

  /// What a line of code names with a capital letter, but for its comments and texts.
  private static func names(on line: Substring) -> [Substring] {
    let code = line.prefix(upTo: line.firstRange(of: "//")?.lowerBound ?? line.endIndex)
    let pieces = code.split(separator: "\"", omittingEmptySubsequences: false)
    return pieces.enumerated().filter { $0.offset.isMultiple(of: 2) }.flatMap { _, piece in
      piece.matches(of: /\b[A-Z]\w*/).map(\.output)
    }
  }
}

/// Rows of text in aligned columns, two spaces apart.
public struct TextTable: Sendable {
  /// To which side of its column a text goes.
  public enum Alignment: Sendable { case left, right }

  private let header: [String]
  private let alignments: [Alignment]
  private var rows: [[String]] = []

  /// - Parameter columns: The headings and the sides their columns go to.
  public init(_ columns: [(String, Alignment)]) {
    header = columns.map { Format.printable($0.0) }
    alignments = columns.map(\.1)
  }

  /// Adds a row with one text for each column.
  public mutating func add(_ row: [String]) { rows.append(row.map(Format.printable)) }

  /// The lines, the heading first, without spaces at their ends.
  public var lines: [String] {
    let widths = header.indices.map { column in
      max(Self.displayWidth(header[column]), rows.map { Self.displayWidth($0[column]) }.max() ?? 0)
    }
    return ([header] + rows).map { Self.line($0, widths: widths, alignments) }
  }

  /// One line of a table whose columns are that wide, without spaces at its end. The texts are printable.
  public static func line(_ row: [String], widths: [Int], _ alignments: [Alignment]) -> String {
    var line = ""
    for column in row.indices {
      if column > 0 { line += "  " }
      let padding = String(repeating: " ", count: max(0, widths[column] - displayWidth(row[column])))
      line += alignments[column] == .left ? row[column] + padding : padding + row[column]
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }

  /// The most of a text that stands in a cell of a list beside others.
  private static let longestCell = 60

  /// The text, or its beginning where it is long.
  public static func shortened(_ text: String) -> String {
    text.count > longestCell ? text.prefix(longestCell - 1) + "…" : text
  }

  /// How many cells of a terminal the text takes: two for East Asian wide characters and emoji (Unicode, UAX 11).
  public static func displayWidth(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if character.unicodeScalars.contains(where: { $0.value == 0xFE0F }) || isWide(first) { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return 1
    }
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
      0x20000...0x3FFFD:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }
}

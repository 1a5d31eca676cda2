import Foundation

/// Folders of tests. Each is searched for plaintext before it goes away, so that every file that a test left is seen
/// (Specs/threat-model.md, "Marker scan").
package enum TestFolder {
  /// Names the file that takes what was found; without it nothing is searched.
  package static let logVariable = "GODWIT_MARKER_LOG"

  /// Removes a folder after the search.
  package static func remove(_ path: String) {
    search(path)
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Searches a folder now: one that is about to be hidden, or to go in another way.
  package static func search(_ path: String) {
    if let log = ProcessInfo.processInfo.environment[logVariable] { MarkerScan(of: path).append(to: log) }
  }

  /// A path in the part of a folder where plaintext may be, which is made when it is missing.
  package static func plaintext(_ name: String, in folder: String) throws -> String {
    let place = "\(folder)/\(MarkerScan.allowedFolder)"
    try FileManager.default.createDirectory(
      atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return "\(place)/\(name)"
  }
}

/// What a search of a folder found.
package struct MarkerScan {
  package private(set) var fileCount = 0
  package private(set) var byteCount = 0
  /// The marker and the file it is in.
  package private(set) var findings: [(marker: String, path: String)] = []

  /// What tests store where it must not be seen.
  package static let marker = "plaintext-marker-5f1d"
  /// Besides, what every database, sync file or backup of Godwit's would show first if it were not encrypted: SQLite's
  /// header and schema, and the start of a container.
  private static let markers: [(name: String, bytes: Data)] = [
    ("the marker", Data(marker.utf8)), ("SQLite's header", Data("SQLite format 3\0\u{10}\0".utf8)),
    ("a schema", Data("CREATE TABLE".utf8)), ("a schema", Data("CREATE TRIGGER".utf8)),
    ("a container", Data("GODWIT\0\u{1}".utf8)),
  ]

  /// The name of folders with what is plaintext on purpose, because it came from elsewhere or was asked for. Nothing
  /// else may be.
  package static let allowedFolder = "plaintext"

  package init(of folder: String) {
    guard let files = FileManager.default.enumerator(atPath: folder) else { return }
    for case let file as String in files {
      let path = "\(folder)/\(file)"
      // No links or pipes: those lead elsewhere, or never end.
      guard (try? FileManager.default.attributesOfItem(atPath: path)[.type]) as? FileAttributeType == .typeRegular,
        let content = FileManager.default.contents(atPath: path)
      else { continue }
      fileCount += 1
      byteCount += content.count
      guard !file.split(separator: "/").dropLast().contains(Substring(Self.allowedFolder)) else { continue }
      findings += Self.markers.filter { content.range(of: $0.bytes) != nil }.map { ($0.name, path) }
    }
  }

  /// One line a folder with both counts, one line a finding. Processes may write at the same time.
  package func append(to log: String) {
    let lines = ["searched \(fileCount) \(byteCount)"] + findings.map { "found \($0.marker) in \($0.path)" }
    let descriptor = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
    close(descriptor)
  }
}

import Foundation

/// The inputs that are kept (Specs/fuzz.md, "Corpus").
enum FuzzCorpus {
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Inputs")

  /// The targets that there is a folder for, and those that there is an archive for.
  static func targets() throws -> (folders: Set<String>, archives: Set<String>) {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let archives = names.filter { $0.hasSuffix(archiveSuffix) }
    return (Set(names).subtracting(archives), Set(archives.map { String($0.dropLast(archiveSuffix.count)) }))
  }

  /// A target's inputs by name: those that have one, and those of its archive by their hashes.
  static func inputs(of target: String) throws -> [(name: String, bytes: [UInt8])] {
    try files(in: folder.appendingPathComponent(target)) + archived(of: target)
  }

  private static let archiveSuffix = ".tar.gz"

  private static func files(in folder: URL) throws -> [(name: String, bytes: [UInt8])] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map { file in
      (file.lastPathComponent, Array(try Data(contentsOf: file)))
    }
  }

  private static func archived(of target: String) throws -> [(name: String, bytes: [UInt8])] {
    let unpacked = FileManager.default.temporaryDirectory.appendingPathComponent("inputs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: unpacked, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: unpacked) }
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    tar.arguments = ["tar", "-xzf", folder.appendingPathComponent(target + archiveSuffix).path, "-C", unpacked.path]
    try tar.run()
    tar.waitUntilExit()
    guard tar.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
    return try files(in: unpacked)
  }
}

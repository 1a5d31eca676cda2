import Foundation
import TestFolders
import Testing

/// Looks for what Tests/KillSubject stores in every file below a folder.
func expectNoPlaintext(in folder: String, at location: SourceLocation = #_sourceLocation) throws {
  let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
  #expect(files.contains { $0.hasSuffix("database") }, sourceLocation: location)
  for file in files {
    guard let content = FileManager.default.contents(atPath: "\(folder)/\(file)") else { continue }
    #expect(content.range(of: Data(MarkerScan.marker.utf8)) == nil, "\(file) holds plaintext", sourceLocation: location)
  }
}

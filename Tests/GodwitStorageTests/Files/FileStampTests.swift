import Foundation
import GodwitFiles
import Testing

@Suite("What stat(2) proves of a file")
struct FileStampTests {
  private let path = NSTemporaryDirectory() + "godwit-stamp-\(UUID().uuidString)"

  /// Gives the file a time so many seconds ago.
  private func age(_ seconds: Double) throws {
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: path)
  }

  @Test("a file that had rested and is the same was not written; one that is new may have been")
  func proofs() throws {
    defer { unlink(path) }
    #expect(!FileStamp(of: path).proves(FileStamp(of: path)), "there is none")
    try Data("a".utf8).write(to: URL(fileURLWithPath: path))
    #expect(!FileStamp(of: path).proves(FileStamp(of: path)), "it was written just now")
    try age(5)
    let rested = FileStamp(of: path)
    #expect(rested.proves(FileStamp(of: path)))
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data("b".utf8))
    try handle.close()
    #expect(!rested.proves(FileStamp(of: path)), "the same size, another time")
    try age(-60)
    #expect(!FileStamp(of: path).proves(FileStamp(of: path)), "a time that has not come")
  }

  @Test("another file in its place, or another size, is no proof")
  func replaced() throws {
    defer { unlink(path) }
    try Data("a".utf8).write(to: URL(fileURLWithPath: path))
    let time = Date(timeIntervalSinceNow: -10)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
    let rested = FileStamp(of: path)
    try Data("b".utf8).write(to: URL(fileURLWithPath: "\(path)-new"))
    #expect(rename("\(path)-new", path) == 0)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
    #expect(!rested.proves(FileStamp(of: path)))
    let other = FileStamp(of: path)
    try Data("bc".utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
    #expect(!other.proves(FileStamp(of: path)))
  }
}

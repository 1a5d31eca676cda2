import Foundation
import Godwit
import Synchronization
import Testing

@Suite("A replica that several programs have open", .timeLimit(.minutes(1)))
struct SharingTests {
  private let folder: TemporaryFolder
  private let first: Replica
  private let second: Replica

  init() async throws {
    folder = try TemporaryFolder()
    first = try await Replica.open(at: folder.file("shared"), models: Folder.self, Note.self)
    second = try await Replica.open(at: folder.file("shared"), models: Folder.self, Note.self)
  }

  @Test("takes the writes of all in one order, and logs each once")
  func writers() async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (number, replica) in [first, second, first, second].enumerated() {
        tasks.addTask {
          for step in 0..<40 { try await replica.write { try $0.insert(Note(title: "\(number) \(step)")) } }
        }
      }
      try await tasks.waitForAll()
    }
    #expect(try await first.count(Note.all) == 160)
    #expect(try await second.count(Note.all) == 160)
    let report = try await first.maintenance.verify()
    #expect(report.isSound && report.transactions == 160)
    await first.close()
    await second.close()
  }

  @Test("lets a writer commit while readers stay on the state they began with")
  func readers() async throws {
    let (first, second) = (first, second)
    try await first.write { try $0.insert(Note(title: "before")) }
    let mayEnd = DispatchSemaphore(value: 0)
    let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let readers = [first, second].map { replica in
      Task {
        try await replica.read { stateFile in
          let before = try stateFile.count(Note.all)
          hasBegun.yield()
          mayEnd.wait()
          return (before, try stateFile.count(Note.all))
        }
      }
    }
    var waiting = began.makeAsyncIterator()
    for _ in readers { await waiting.next() }
    for number in 0..<20 { try await second.write { try $0.insert(Note(title: "during \(number)")) } }
    for _ in readers { mayEnd.signal() }
    for reader in readers { #expect(try await reader.value == (1, 1)) }
    #expect(try await first.count(Note.all) == 21)
    await first.close()
    await second.close()
  }

  @Test("is busy for who comes late")
  func busy() async throws {
    let (first, second) = (first, second)
    let mayEnd = DispatchSemaphore(value: 0)
    let (began, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let holder = Task {
      try await first.write { transaction in
        try transaction.insert(Note(title: "held"))
        hasBegun.yield()
        mayEnd.wait()
      }
    }
    var waiting = began.makeAsyncIterator()
    await waiting.next()
    #expect(await code { try await second.write { try $0.insert(Note(title: "late")) } } == .busy)
    mayEnd.signal()
    try await holder.value
    try await second.write { try $0.insert(Note(title: "later")) }
    #expect(try await first.count(Note.all) == 2)
    await first.close()
    await second.close()
  }
}

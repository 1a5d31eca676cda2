import Foundation
import Godwit
import Testing

private struct Chair: Model {
  static let schema = Schema<Self>("chair") {
    Key(Column("row", \.id.first), Column("number", \.id.second))
    Column("text", \.text)
  }
  var id = PairKey(0, 0)
  var text = ""
}

/// A state in which there is no row; after the last state there is none at all.
private func isAbsent<Row>(_ state: Row??) -> Bool {
  if case .some(.none) = state { true } else { false }
}

@Suite("An observation of one row", .timeLimit(.minutes(1)))
struct RowObservationTests {
  private let replica: Replica

  init() async throws { replica = try await Replica.temporary(models: Note.self, Folder.self) }

  @Test("gives the model of a key, what it becomes, and nil before and after")
  func byKey() async throws {
    var note = Note(title: "a", views: 1)
    var states = replica.observe(Note.self, key: note.id).makeAsyncIterator()
    #expect(isAbsent(try await states.next()))
    try await replica.write { [note] tx in
      try tx.insert(note)
      try tx.insert(Note(title: "other", views: 9))
    }
    #expect(try await states.next()??.title == "a")
    note.title = "b"
    try await replica.write { [note] in _ = try $0.update(note) }
    #expect(try await states.next()??.title == "b")
    try await replica.write { [note] in _ = try $0.delete(note) }
    #expect(isAbsent(try await states.next()))
    await replica.close()
    let afterClosing = try await states.next()
    #expect(afterClosing.map { _ in true } == nil)
  }

  @Test("does not come again when other rows change")
  func otherRows() async throws {
    let note = Note(title: "a", views: 1)
    try await replica.write { try $0.insert(note) }
    var states = replica.observe(Note.self, key: note.id).makeAsyncIterator()
    #expect(try await states.next()??.views == 1)
    for number in 0..<20 { try await replica.write { try $0.insert(Note(title: "\(number)", views: 9)) } }
    try await replica.write { _ = try $0.update(Note.where { $0.title == "a" }) { $0.views = 2 } }
    #expect(try await states.next()??.views == 2)
    await replica.close()
  }

  @Test("gives the first row of a request")
  func first() async throws {
    var most = replica.observe(first: Note.order(by: \.views, .descending)).makeAsyncIterator()
    #expect(isAbsent(try await most.next()))
    try await replica.write { try $0.insert([Note(title: "a", views: 1), Note(title: "b", views: 3)]) }
    #expect(try await most.next()??.title == "b")
    try await replica.write { try $0.insert(Note(title: "c", views: 2)) }
    try await replica.write { _ = try $0.delete(Note.where { $0.title == "b" }) }
    #expect(try await most.next()??.title == "c")
    let documents = replica.documents("d")
    try await documents.set("k", ["n": 1])
    for try await key in replica.observe(first: documents.all.keys) {
      #expect(key == "k")
      break
    }
    await replica.close()
  }

  @Test("of a key of several columns is of the row that has them all")
  func compositeKey() async throws {
    let replica = try await Replica.temporary(models: Chair.self)
    try await replica.write { try $0.insert([Chair(id: PairKey(1, 2), text: "x"), Chair(id: PairKey(1, 3))]) }
    var states = replica.observe(Chair.self, key: PairKey(1, 2)).makeAsyncIterator()
    #expect(try await states.next()??.text == "x")
    await replica.close()
  }
}

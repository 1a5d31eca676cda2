import Foundation
import Godwit
import Testing

private struct Limits: Codable { var pages: Int }

private struct Price: Model {
  static let schema = Schema<Self>("price", sync: .local) { Column("amount", \.amount) }
  var id = RecordID<Price>()
  var amount = Decimal(0)
}

@Suite("Foundation's predicate")
struct PredicateTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  /// The predicate finds in the database what it finds among the same values in memory.
  private func expect(
    _ predicate: Foundation.Predicate<Book>, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let all = try await replica.fetch(Book.order(by: \.title))
    let found = try await replica.fetch(Book.where(predicate).order(by: \.title))
    let wanted = try all.filter { try predicate.evaluate($0) }
    #expect(wanted.map(\.title) == found.map(\.title), sourceLocation: location)
  }

  @Test("compares, joins and negates as Swift does")
  func logic() async throws {
    let least = 200
    try await expect(#Predicate { $0.pages > least })
    try await expect(#Predicate { $0.pages <= 230 && $0.price != 12 })
    try await expect(#Predicate { ($0.title == "Orlando" || $0.pages < 200) && !$0.isLent })
    try await expect(#Predicate { !($0.pages >= 210 || $0.isLent) })
    try await expect(#Predicate { $0.isLent })
    try await expect(#Predicate { $0.isLent == false })
    try await expect(#Predicate { _ in true })
    try await expect(#Predicate { $0.isLent ? $0.pages > 400 : $0.pages > 200 })
  }

  @Test("treats nil as Swift does")
  func optionals() async throws {
    let (woolf, none) = (library.woolf.id as Author.ID?, nil as Author.ID?)
    try await expect(#Predicate { $0.subtitle == nil })
    try await expect(#Predicate { $0.subtitle != nil })
    try await expect(#Predicate { $0.author == woolf })
    try await expect(#Predicate { $0.author != woolf })
    try await expect(#Predicate { $0.author == none })
    try await expect(#Predicate { ($0.subtitle ?? "none") == "none" })
    try await expect(#Predicate { $0.subtitle?.contains("Bio") ?? false })
    try await expect(#Predicate { $0.subtitle?.contains("Bio") == true })
    try await expect(#Predicate { $0.subtitle?.contains("Bio") != true })
    try await expect(#Predicate { !($0.subtitle?.starts(with: "100%") ?? true) })
  }

  @Test("keeps nil apart inside chains, lists and unwrapping")
  func nilInside() async throws {
    let wanted: [String?] = [nil, "A Biography"]
    try await expect(#Predicate { wanted.contains($0.subtitle) })
    try await expect(#Predicate { !wanted.contains($0.subtitle) })
    try await expect(#Predicate { book in book.subtitle.flatMap { $0.contains("zzz") || book.pages > 1 } ?? false })
    try await expect(#Predicate { book in book.subtitle.flatMap { $0.contains("100") && book.pages < 1 } ?? true })
    let unwrapped = try await replica.fetch(Book.where(#Predicate { !($0.subtitle! == "A Biography") }))
    #expect(unwrapped.map(\.title) == ["Beowulf"])
  }

  @Test("finds text, members and ranges")
  func membership() async throws {
    let pages = [150, 210, 7]
    let limits = Limits(pages: 220)
    try await expect(#Predicate { $0.title.contains("The") })
    try await expect(#Predicate { $0.title.starts(with: "The W") })
    try await expect(#Predicate { pages.contains($0.pages) })
    try await expect(#Predicate { !pages.contains($0.pages) })
    try await expect(#Predicate { (200...230).contains($0.pages) })
    try await expect(#Predicate { (200..<230).contains($0.pages) })
    try await expect(#Predicate { $0.pages > limits.pages })
  }

  @Test("computes")
  func arithmetic() async throws {
    try await expect(#Predicate { $0.pages + 10 > 240 })
    try await expect(#Predicate { ($0.pages - 10) * 2 == 400 })
    try await expect(#Predicate { $0.pages % 4 == 2 })
    try await expect(#Predicate { $0.pages / 100 == 2 })
    try await expect(#Predicate { $0.price / 2 < 5 })
    try await expect(#Predicate { -$0.pages < -200 })
  }

  @Test("is written as a person would")
  func sql() throws {
    let query = Book.where(#Predicate { $0.pages > 3 && ($0.title == "a" || $0.subtitle == nil) })
    #expect(
      try query.select { $0.id }.sql.text
        == #"SELECT `id` FROM "book" WHERE `pages` > ? AND (`title` = ? OR `subtitle` IS NULL)"#)
  }

  @Test("that cannot be written is an error that names the part, never a filter in memory")
  func untranslatable() async throws {
    let replica = replica
    let count = #Predicate<Book> { $0.title.count > 3 }
    let pages = [1, 2]
    let all = #Predicate<Book> { book in pages.allSatisfy { $0 < book.pages } }
    #expect(await code { try await replica.fetch(Book.where(count)) } == .untranslatablePredicate)
    do {
      _ = try await replica.fetch(Book.where(all))
      Issue.record("a part without a counterpart was written")
    } catch let error as GodwitError {
      #expect(error.code == .untranslatablePredicate && error.message.contains("SequenceAllSatisfy"))
    }
  }

  @Test("does not compute with a Decimal, whose text form SQL would round")
  func decimal() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("r"), models: Price.self)
    let (negated, sum) = (#Predicate<Price> { -$0.amount == 1 }, #Predicate<Price> { $0.amount + 1 == 1 })
    for predicate in [negated, sum] {
      #expect(await code { try await replica.fetch(Price.where(predicate)) } == .untranslatablePredicate)
    }
    await replica.close()
  }

  @Test("with a property that is no column is notInSchema")
  func noColumn() async throws {
    let group = try await TestGroup(1)
    #expect(await code { try await group[0].fetch(Note.where(#Predicate { $0.isSelected })) } == .notInSchema)
  }
}

import Godwit

enum MergingSamples {
  // begin sample
  struct Article: Model {
    static let schema = Schema<Self>("article") {
      Column("slug", \.slug).unique()
      Column("title", \.title)
      Column("views", \.views, merge: .counter)
      Column("tags", \.tags, merge: .addWinsSet)
      Column("opened", \.opened, merge: .max)
      Column("summary", \.summary, merge: .custom("longer", longer))
      Column("section", \.section).references(Section.self, onDelete: .setNull)
    }
    /// The longer text; of equally long ones the greater.
    static let longer: @Sendable (String, String) -> String = { ($0.count, $0) < ($1.count, $1) ? $1 : $0 }

    var id = RecordID<Article>()
    var slug = ""
    var title = ""
    var views = 0
    var tags: Set<String> = []
    var opened = 0
    var summary = ""
    var section: Section.ID?
  }

  /// A tree: of two moves that would close a circle that of the greater key has no effect.
  struct Section: Model {
    static let schema = Schema<Self>("section", deletes: .deleteWins) {
      Column("name", \.name)
      Column("parent", \.parent).references(Section.self, onDelete: .setNull, acyclic: true)
    }
    var id = RecordID<Section>()
    var name = ""
    var parent: Section.ID?
  }
  // end sample

  static func run() async throws {
    let replica = try await Replica.open(at: "articles", models: Article.self, Section.self)
    try await replica.write { try $0.insert(Article(slug: "a", tags: ["x"])) }
    try expect(try await replica.first(Article.all)?.tags == ["x"])
    await replica.close()

    // begin sample
    let longer = ColumnMerge<String>.custom("longer") { $0.count >= $1.count ? $0 : $1 }
    let problems = try longer.violations(among: ["", "a", "b", "abc"])
    print(problems)  // "a" and "b" merge to another value the other way round
    // end sample
    try expect(!problems.isEmpty)
    try await renameHereEditThere()
  }

  // begin sample
  struct Product: Model {
    static let schema = Schema<Self>("product") {
      Column("code", \.code).unique()
      Column("price", \.price)
    }
    var id = RecordID<Product>()
    var code = ""
    var price = 0
  }
  // end sample

  private static func renameHereEditThere() async throws {
    let desk = try await Replica.open(at: "desk", models: Product.self)
    let identity = try await Replica.identity(at: "laptop")
    try await desk.members.invite(
      identity, name: "laptop", verification: .trustOnFirstUse, to: .file("laptop.invitation"))
    await (try Replica.join(at: "laptop", invitation: .file("laptop.invitation"), inviter: .trustOnFirstUse)).close()
    let laptop = try await Replica.open(at: "laptop", models: Product.self)
    try await desk.write { try $0.insert(Product(code: "A1", price: 200)) }
    try await carry(from: desk, to: laptop)

    // begin sample
    try await desk.write { try $0.execute("UPDATE product SET code = 'A-1' WHERE code = 'A1'") }
    try await laptop.write { try $0.execute("UPDATE product SET price = 250 WHERE code = 'A1'") }
    try await carry(from: desk, to: laptop)

    let products = try await laptop.fetch(Product.all)
    print(products.map(\.code), products.map(\.price))  // ["A-1"] [250]
    // end sample
    try expect(products.map(\.code) == ["A-1"], products.map(\.price) == [250])
    try await carry(from: laptop, to: desk)
    try expect(try await desk.fetch(Product.all).map(\.price) == [250])
    try expect(try await desk.conflicts.list().isEmpty, try await laptop.conflicts.list().isEmpty)
    await desk.close()
    await laptop.close()
  }

  private static func carry(from sender: Replica, to receiver: Replica) async throws {
    _ = try await sender.export(to: .file("changes"))
    _ = try await receiver.import(from: .file("changes"))
  }
}

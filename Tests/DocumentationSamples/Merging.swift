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

  /// A tree: of two moves that would close a circle the later has no effect.
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
  }
}

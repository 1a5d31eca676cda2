import Godwit

enum ModelsSamples {
  // begin sample
  enum State: String, ColumnValue { case draft, published }

  struct Source: JSONColumnValue {
    var url = ""
    var authors: [String] = []
  }

  struct Article: Model {
    static let schema = Schema<Self>("article") {
      Column("title", \.title).unique()
      Column("views", \.views).check("views >= 0")
      Column("state", \.state)
      Column("source", \.source)
      Column("country", \.country).references(Country.self, onDelete: .setNull)
      Timestamps(created: \.created, updated: \.updated)
      Index(\.state, \.title)
    }
    var id = RecordID<Article>()
    var title = ""
    var views = 0
    var state = State.draft
    var source: Source?
    var country: Country.ID?
    var created = Timestamp()
    var updated = Timestamp()
    var isSelected = false  // not listed, so not stored
  }
  // end sample

  // begin sample
  struct Country: Model {
    static let schema = Schema<Self>("country", key: "code") { Column("name", \.name) }
    var id = ""  // in the column code
    var name = ""
  }

  struct Visit: Model {
    static let schema = Schema<Self>("visit") {
      Key(
        Column("article", \.article).references(Article.self, onDelete: .cascade),
        Column("day", \.day))
      Column("count", \.count)
    }
    var article = Article.ID()
    var day = 0
    var count = 0
    var id: PairKey<Article.ID, Int> {
      get { PairKey(article, day) }
      set { (article, day) = (newValue.first, newValue.second) }
    }
  }

  struct LogLine: Model {
    static let schema = Schema<Self>("log_line", sync: .local, autoIncrement: true) {
      Column("text", \.text)
    }
    var id = 0  // 0 until the database has numbered it
    var text = ""
  }
  // end sample

  static func run() async throws {
    // begin sample
    let replica = try await Replica.open(
      at: "articles", models: Article.self, Country.self, Visit.self, LogLine.self, Event.self,
      configuration: .init(migrations: .addMissing()))
    // end sample

    // begin sample
    try await replica.write { transaction in
      try transaction.insert(Country(id: "NO", name: "Norway"))
      var article = try transaction.insert(Article(title: "On geese", country: "NO"))  // with its timestamps
      article.views = 1
      try transaction.update(article)  // writes views and updated_at alone

      article.title = "On swans"
      article.views = 99
      try transaction.save(article, merging: [\.title])  // views stay 1

      try transaction.save(Visit(article: article.id, day: 1, count: 1))  // inserts, the key being new
      try transaction.save(Visit(article: article.id, day: 1, count: 2))  // updates
      try transaction.delete(Country.self, key: "NO")  // the article's country becomes nil
    }
    // end sample
    let article = try await replica.first(Article.all)
    try expect(article?.title == "On swans" && article?.views == 1 && article?.country == nil)
    try await expect(replica.fetch(Visit.all).map(\.count) == [2])
    try await rules(replica)
    await replica.close()
  }

  // begin sample
  struct Event: ModelHooks {
    static let schema = Schema<Self>("event") {
      Column("title", \.title)
      Column("slug", \.slug)
      Column("start", \.start)
      Column("end", \.end)
      Validate(\.title, .presence, .length(...80))
      Validate(\.slug, .uniqueness)
      Validate("end must not be before start") { $0.start <= $0.end }
      Index(\.slug)
    }
    var id = RecordID<Event>()
    var title = ""
    var slug = ""
    var start = 0
    var end = 0

    mutating func willSave(_ transaction: Transaction) throws { slug = title.lowercased() }

    func didDelete(_ transaction: Transaction) throws {
      try transaction.insert(LogLine(text: "deleted an event"))
    }
  }
  // end sample

  static func rules(_ replica: Replica) async throws {
    // begin sample
    do {
      try await replica.write { try $0.insert(Event(title: " ", start: 2, end: 1)) }
    } catch let error as GodwitError where error.code == .validationFailed {
      for violation in error.violations { print(violation) }
      // title must not be empty
      // end must not be before start
    }
    // end sample
    try await expect(replica.count(Event.all) == 0)
    try await replica.write { transaction in
      let event = try transaction.insert(Event(title: "Fair"))
      try expect(event.slug == "fair")
      try transaction.delete(event)
    }
    try await expect(replica.fetch(LogLine.all).map(\.id) == [1])
  }
}

/// The own transactions that are in the tables and the log alone. The first merge after them brings row states, limbo
/// and unique claims in line with them; a fast forward leaves them as they are.
final class LocalWrites {
  private let log: LogFold
  private let places: RowPlaces
  private let unique: UniqueJudge
  private let lister: ConflictLister
  /// Whether the row states know them all.
  private(set) var areFolded = false
  /// The rows that they wrote, where anything waits.
  private var changed: Set<RowKey> = []

  init(_ log: LogFold, _ places: RowPlaces, unique: UniqueJudge, _ lister: ConflictLister) {
    self.log = log
    self.places = places
    self.unique = unique
    self.lister = lister
  }

  /// Folds them, once: what is folded into a row that has left its table since would lose its hidden cells.
  func fold() throws {
    guard !areFolded else { return }
    areFolded = true
    try foldAhead()
    for key in changed.sorted() { try rejudge(key) }
    for table in Set(changed.map(\.table)) { try unique.freedSomewhere(in: table) }
    if !changed.isEmpty { try unique.resolve() }
  }

  /// Folds those that there are by now. Limbo is brought in line with them when the rest is folded.
  func foldAhead() throws {
    let hasLimbo = !places.limbo.isEmpty
    try log.run { key, replaced in
      if hasLimbo { changed.insert(key) }
      for entry in replaced { try lister.listReplaced(entry) }
    }
  }

  /// A local write did not know what waits in limbo.
  private func rejudge(_ key: RowKey) throws {
    guard let row = try places.load(key) else {
      try places.release(key)
      return try places.noteDeparture(key)
    }
    guard row.isShown else { return }
    try places.renewReasons(of: row)
    try unique.changed(row)
    try places.noteArrival(key)
  }
}

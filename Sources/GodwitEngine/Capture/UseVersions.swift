/// The tables of a transaction, each once, though a collection that gains columns while it runs is captured as several
/// (Specs/documents.md, "Table").
struct UseVersions {
  /// Each table as it is at the commit, with all the columns that were used of it.
  private(set) var latest: [ChangeCapture.Use] = []
  /// By number of a use, its table's place in ``latest``.
  private(set) var numbers: [Int] = []
  /// Whether any table stands for several uses.
  var haveGrown: Bool { latest.count < numbers.count }

  init(_ uses: [ChangeCapture.Use]) {
    var places: [Int: Int] = [:]
    for use in uses {
      guard let place = places[use.table.id] else {
        places[use.table.id] = latest.count
        numbers.append(latest.count)
        latest.append(use)
        continue
      }
      numbers.append(place)
      latest[place] = latest[place].grown(into: use)
    }
  }
}

extension ChangeCapture.Use {
  /// The later of two, with what the earlier used. Columns are only added, and behind the others.
  fileprivate func grown(into later: Self) -> Self {
    var grown = later
    grown.usesAll = usesAll || later.usesAll
    for number in columns.indices where columns[number] && number < later.columns.count {
      grown.columns[number] = true
    }
    return grown
  }
}

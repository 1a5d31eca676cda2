import Godwit

/// The notes of one machine, and what it exchanges with others.
struct Notebook {
  /// The notes as they are listed, the oldest first.
  static let all = Note.order(by: \.id)

  let replica: Replica

  /// Opens the notebook in a folder; makes it where there is none.
  static func open(in folder: String) async throws -> Notebook {
    Notebook(replica: try await Replica.open(at: folder, models: Note.self))
  }

  func close() async { await replica.close() }

  // MARK: Notes

  func add(_ text: String) async throws {
    try await replica.write { try $0.insert(Note(text: text)) }
  }

  func notes() async throws -> [Note] {
    try await replica.fetch(Notebook.all)
  }

  /// Gives a note another text. It is named by its number in the list.
  func change(_ number: Int, to text: String) async throws {
    try await replica.write { transaction in
      let notes = try transaction.fetch(Notebook.all)
      guard notes.indices.contains(number - 1) else { throw Mistake(message: "there is no note \(number)") }
      var note = notes[number - 1]
      note.text = text
      try transaction.update(note)  // writes and records the text alone
    }
  }

  // MARK: Files

  func export(to file: String) async throws -> ExportReport {
    try await replica.export(to: .file(file))
  }

  func `import`(from file: String) async throws -> MergeReport {
    try await replica.import(from: .file(file))
  }

  func conflicts() async throws -> [Conflict] {
    try await replica.conflicts.list()
  }
}

/// What a person asked for and cannot have.
struct Mistake: Error {
  let message: String
}

import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitStorage

// Names that Unicode holds for the same, such as é as one scalar and as two, are different members. A document has one
// of them, unless two replicas have each written another (Specs/documents.md, "Forms of a name").
extension DocumentCells {
  /// Throws `invalidDocument` when the document would get a member that it has in another form. The statement stands on
  /// its row.
  func checkForms(with statement: Statement, _ shape: CollectionShape) throws {
    for twins in shape.twins {
      let members = twins.map { shape.members[$0] }
      guard let held = members.first(where: { DocumentReading.hasValue(statement, $0) }) else { continue }
      for given in members where gives(given) && !DocumentReading.hasValue(statement, given) {
        throw GodwitError(
          .invalidDocument,
          "the document has its member \(held.name) in another form of Unicode: "
            + "it is \(Self.scalars(held.name)), not \(Self.scalars(given.name))",
          hint: "write the name in the form that reading the document gives, or merge that one as null first")
      }
    }
  }

  /// Whether the document on its way in has a value for the member.
  private func gives(_ member: CollectionShape.Member) -> Bool {
    [member.value, member.counter, member.set].contains { column in
      column.flatMap(encoded)?.first.map { $0 != ValueTag.null } ?? false
    }
  }

  private static func scalars(_ name: String) -> String {
    name.unicodeScalars.map { $0.isASCII ? String($0) : $0.escaped(asASCII: true) }.joined()
  }
}

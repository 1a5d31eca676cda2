import Foundation

/// What a member's name looks like to people. Two names that look alike cannot distinguish members
/// (Specs/membership.md, "Renaming").
struct NameLikeness: Equatable {
  private let text: String

  init(_ name: String) {
    var scalars = String.UnicodeScalarView()
    for scalar in name.precomposedStringWithCompatibilityMapping.unicodeScalars
    where !scalar.properties.isDefaultIgnorableCodePoint {
      scalars.append(Self.latin[scalar] ?? scalar)
    }
    // A list pads names with spaces.
    text = String(scalars).trimmingCharacters(in: .whitespaces)
  }

  /// The letters of other alphabets that most fonts draw as Latin ones.
  private static let latin: [Unicode.Scalar: Unicode.Scalar] = {
    let alike = [
      ("АВЕЅІЈКМНОРСТУХԚԜ", "ABESIJKMHOPCTYXQW"), ("асԁеһіјӏорԛѕԝхуѵ", "acdehijlopqswxyv"),
      ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"), ("οϳνυ", "ojvu"), ("ıɡ", "ig"),
    ]
    let pairs = alike.flatMap { zip($0.unicodeScalars, $1.unicodeScalars) }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }()
}

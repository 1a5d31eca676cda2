import Foundation
import GodwitBase
import GodwitSyncFile

/// What the file of a volume is called, before it is in its place and then (Specs/sync-file.md, "Volumes").
struct VolumeName {
  /// The name that the set was written to.
  let file: String
  let number: Int

  init(_ file: String, _ number: Int) {
    self.file = file
    self.number = number
  }

  /// `FILE.001`.
  var place: String {
    let digits = String(number)
    return "\(file).\(String(repeating: "0", count: max(0, 3 - digits.count)))\(digits)"
  }

  /// `FILE.001.SET.tmp`, of which the set shows where all its volumes are.
  func pending(_ set: Identifier128) -> String { "\(place).\(set.hexadecimal).tmp" }

  /// `FILE.001.new`: the first volume of a set that counts from now on, while the others go to their places.
  static func begun(_ file: String) -> String { VolumeName(file, 1).place + beginning }

  private static let beginning = ".new"

  /// Reads any of these names.
  init?(_ path: String) {
    self.init(place: VolumeName.placeNamed(by: path))
    guard !path.hasSuffix(Self.beginning) || number == 1 else { return nil }
  }

  private init?(place: Substring) {
    guard let point = place.lastIndex(of: "."), point > place.startIndex else { return nil }
    let digits = place[place.index(after: point)...]
    guard digits.utf8.count == 3, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
      (1...VolumeHeader.countLimit).contains(number)
    else { return nil }
    self.init(String(place[..<point]), number)
  }

  /// The path without what stands behind the number.
  private static func placeNamed(by path: String) -> Substring {
    if path.hasSuffix(beginning) { return path.dropLast(beginning.count) }
    guard Self.isPending(path) else { return path[...] }
    return path.dropLast(".tmp".count).dropLast(setDigitCount + 1)
  }

  /// Whether a path ends as ``pending(_:)`` does.
  static func isPending(_ path: String) -> Bool {
    guard path.hasSuffix(".tmp") else { return false }
    let set = path.dropLast(".tmp".count).suffix(setDigitCount + 1)
    return set.first == "." && set.utf8.count == setDigitCount + 1
      && Identifier128(hexadecimal: String(set.dropFirst())) != nil
  }

  private static let setDigitCount = 32
}

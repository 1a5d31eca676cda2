import Foundation
import Testing

/// A desk with what its pages are to show: hostile values in conflicts, what others lack, a remote.
struct PageWorld {
  static let (secretKey, secretValue) = ("key-of-a-row", "value-of-a-row")
  /// What wins and loses, by key: marks of HTML, an address that runs, a text that turns round, and one of 1 MB.
  static let hostile = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
  let desk: Machine
  let laptop: Machine

  init() async throws {
    (desk, laptop) = try await Machine.pair()
    let remote = desk.path("remote")
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    for machine in [desk, laptop] { try #require(try machine.godwit("remote", "add", "stick", remote).status == 0) }
    for key in [Self.secretKey, "b", "long", "a b"] { try put(key, "first", on: desk) }
    for machine in [desk, laptop] { try #require(try machine.godwit("sync").status == 0) }
    try put(Self.secretKey, Self.hostile, on: desk)
    try put(Self.secretKey, "javascript:document.title='run' \u{202E}gnp.exe", on: laptop)
    try put("b", Self.secretValue, on: desk)
    try put("b", "other", on: laptop)
    try put("long", String(repeating: "x<b>y</b> ", count: 100_000), on: desk)
    try put("long", "short", on: laptop)
    for machine in [laptop, desk] { try #require(try machine.godwit("sync").status == 0) }
    try put("new", "unsent", on: desk)
  }

  private func put(_ key: String, _ title: String, on machine: Machine) throws {
    let json = try JSONSerialization.data(withJSONObject: ["title": title])
    try #require(try machine.godwit("put", "todo", "--as", key, input: json).status == 0)
  }
}

import Foundation
import Testing

private let stock = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
  .map { "\($0)/libsqlite3.so.0" }.first { FileManager.default.fileExists(atPath: $0) }

/// The stock SQLite in front of SQLCipher, as another link order would put it there.
@Suite(.enabled(if: stock != nil, "there is no libsqlite3.so.0 here"))
struct OtherLibraryTests {
  @Test func stockSQLite() throws {
    let machine = try Machine("stock")
    let preload = ["LD_PRELOAD": try #require(stock)]
    let made = try machine.godwit("init", environment: preload)
    #expect(made.status == 1)
    #expect(made.error.contains("has no cipher"))
    #expect((try? machine.read(".godwit/database").count) ?? 0 == 0)

    let other = try Machine("cipher")
    try #require(try other.godwit("init").status == 0)
    let before = try other.read(".godwit/database")
    #expect(try other.godwit("status", environment: preload).error.contains("has no cipher"))
    #expect(try other.read(".godwit/database") == before)
    #expect(try other.godwit("status").status == 0)
  }
}

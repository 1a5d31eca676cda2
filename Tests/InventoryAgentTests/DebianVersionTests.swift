import Testing

@testable import inventory_agent

@Suite("Debian versions")
struct DebianVersionTests {
  @Test(
    "each list is in ascending order",
    arguments: [
      ["~~", "~~a", "~", "", "a"],  // the example of Debian policy, section 5.6.12
      ["1.0~beta1~svn1245", "1.0~beta1", "1.0", "1.0-1", "1.0-1+b1", "1.0-2", "1.0.1", "1.1"],
      ["9", "10", "100", "20240101120000123456789", "20240101120000123456790"],
      ["99:0", "100:0"], ["2.0-9", "1:1.0-1", "2:0.1"],
      ["1.0-1~bpo12+1", "1.0-1", "1.0-1+deb12u1", "1.0-1.1"],
      ["1", "1a", "1b", "1ba", "1+", "1."],
      ["1.2-a-1", "1.2-b-1", "1.3"],
    ])
  func ascending(versions: [String]) {
    for (index, left) in versions.enumerated() {
      for right in versions[(index + 1)...] {
        #expect(DebianVersion(left) < DebianVersion(right), "\(left) < \(right)")
        #expect(!(DebianVersion(right) < DebianVersion(left)), "\(right) < \(left)")
      }
    }
  }

  @Test(
    "an absent part counts as zero, and leading zeros do not count",
    arguments: [("1.0", "0:1.0"), ("1.0", "1.0-0"), ("1.0-1", "1.00-01"), ("1.", "1.0"), ("", "0")])
  func equal(left: String, right: String) {
    #expect(DebianVersion(left) == DebianVersion(right))
  }
}

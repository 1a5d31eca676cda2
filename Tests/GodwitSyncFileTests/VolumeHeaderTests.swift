import GodwitBase
import GodwitKeys
import GodwitSyncFile
import Testing

@Suite("The header of a volume")
struct VolumeHeaderTests {
  private func header(
    number: Int = 2, count: Int = 3, offset: UInt64 = 100, body: UInt64 = 50, sealed: UInt64 = 200
  ) -> VolumeHeader {
    VolumeHeader(
      set: Identifier128(high: 3, low: 4), number: number, count: count, offset: offset, bodyByteCount: body,
      sealedByteCount: sealed, bodyHash: .zero)
  }

  private func refusal(_ bytes: [UInt8]) -> GodwitError.Code? {
    do { _ = try VolumeHeader(bytes) } catch { return (error as? GodwitError)?.code }
    return nil
  }

  @Test("reads back as written")
  func roundTrip() throws {
    let headers = [
      header(), header(number: 1, offset: 0), header(number: 3, offset: 150),
      header(number: 1, count: 1, offset: 0, body: 200),
    ]
    for header in headers {
      #expect(header.encoded.count == VolumeHeader.byteCount)
      #expect(try VolumeHeader(header.encoded) == header)
    }
  }

  @Test("is refused with any byte changed, cut anywhere or extended")
  func changed() {
    let bytes = header().encoded
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(refusal(changed) == (index == 8 ? .unsupportedVersion : .corruptFile), "byte \(index)")
      #expect(refusal(Array(bytes.prefix(index))) == .truncatedFile, "\(index) bytes")
    }
    #expect(refusal(bytes + [0]) == .corruptFile)
  }

  @Test("is refused when number, count and sizes make no sense together")
  func nonsense() {
    let nonsense = [
      header(number: 0), header(number: 4), header(number: 1), header(number: 3), header(number: 2, offset: 0),
      header(number: 2, count: 1_000), header(count: 0), header(body: 0), header(body: 100), header(body: 101),
      header(offset: .max, body: 2), header(number: 3, offset: 150, body: 51),
      header(number: 1, count: 1, offset: 0, body: 1 << 63, sealed: 1 << 63),
    ]
    for (index, header) in nonsense.enumerated() { #expect(refusal(header.encoded) == .corruptFile, "\(index)") }
  }
}

import Foundation
import GodwitBase
import GodwitCrypto
import GodwitFiles

/// A bucket of an object store as a remote, by the S3 protocol (docs.aws.amazon.com/AmazonS3/latest/API): plain PUT,
/// GET, HEAD, DELETE and ListObjectsV2 with a signed hash of the payload, which every provider takes.
package struct ObjectStoreCarrier: Carrier {
  private let address: BucketAddress
  private let client: StoreClient

  package var mayBeAway: Bool { false }

  /// - Parameter environment: Where keys and their places are named.
  /// - Throws: `refused` where there are no keys.
  package init(
    _ address: BucketAddress, patience: StorePatience = StorePatience(),
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    self.address = address
    client = try StoreClient(address, patience: patience, environment: environment)
  }

  private func key(_ name: String) -> String { address.prefix.isEmpty ? name : "\(address.prefix)/\(name)" }

  private static let pageLimit = 10_000
  /// The most files that a folder may have, and the most bytes of their names there: Godwit's have fewer.
  private static let objectLimit = 100_000
  private static let nameLimit = 255

  package func list(_ folder: String, meter: TransferMeter) throws -> [CarriedFile] {
    let prefix = key("\(folder)/")
    var files: [CarriedFile] = []
    var token: String?
    for _ in 0..<Self.pageLimit {
      // Encoded, for XML has no way to write some of the characters that a key may have.
      var query = [
        (name: "encoding-type", value: "url"), (name: "list-type", value: "2"), (name: "prefix", value: prefix),
      ]
      if let token { query.insert((name: "continuation-token", value: token), at: 0) }
      let answer = try client.send(StoreRequest(method: .get, query: query), meter: meter)
      guard answer.status == 200, let page = StoreDocument(answer.body), page.isList else {
        throw client.failure(answer)
      }
      let longest = prefix.utf8.count + Self.nameLimit
      let objects = page.objects.filter { $0.key.hasPrefix(prefix) && $0.key.utf8.count <= longest }
      files += objects.map {
        CarriedFile(name: "\(folder)/\($0.key.dropFirst(prefix.count))", size: $0.size, tag: $0.tag)
      }
      guard page.isTruncated else { return files }
      guard let next = page.nextToken, next != token else {
        throw GodwitError(
          .refused, "the list of \(prefix) in bucket \(address.bucket) breaks off",
          hint: "see that the endpoint is the address of an S3 store that knows ListObjectsV2")
      }
      guard files.count <= Self.objectLimit else { break }
      token = next
    }
    // Part of a list would show others' files as gone.
    throw GodwitError(
      .refused, "the list of \(prefix) in bucket \(address.bucket) does not end",
      hint: "see who puts so many objects there, and remove them")
  }

  package func find(_ name: String, meter: TransferMeter) throws -> CarriedFile? {
    let answer = try client.send(StoreRequest(method: .head, key: key(name)), meter: meter)
    return try client.isMissing(answer) ? nil : described(answer, name)
  }

  package func read(_ name: String, into sink: any ByteSink, limit: Int, meter: TransferMeter) throws -> CarriedFile? {
    let request = StoreRequest(method: .get, key: key(name), sink: sink, limit: limit)
    let answer = try client.send(request, meter: meter)
    return try client.isMissing(answer) ? nil : described(answer, name)
  }

  package func write(_ name: String, from path: String, meter: TransferMeter) throws -> CarriedFile {
    let answer = try client.send(StoreRequest(method: .put(try body(path)), key: key(name)), meter: meter)
    guard (200..<300).contains(answer.status) else { throw client.failure(answer) }
    guard let tag = Self.tag(answer) else {
      return try find(name, meter: meter) ?? CarriedFile(name: name, size: 0, tag: "")
    }
    return CarriedFile(name: name, size: try body(path).size, tag: tag)
  }

  package func remove(_ name: String, meter: TransferMeter) throws {
    let answer = try client.send(StoreRequest(method: .delete, key: key(name)), meter: meter)
    guard try (200..<300).contains(answer.status) || client.isMissing(answer) else { throw client.failure(answer) }
  }

  package func honoursConditions(_ name: String, from path: String) throws -> Bool? {
    let request = StoreRequest(method: .put(try body(path)), key: key(name), isForNew: true)
    let answer = try client.send(request, meter: TransferMeter())
    guard answer.status == 412 || (200..<300).contains(answer.status) else { throw client.failure(answer) }
    return answer.status == 412
  }

  private func body(_ path: String) throws -> HTTPBody {
    HTTPBody(path: path, size: try FileDescriptor.openPlainForReading(path).size())
  }

  private func described(_ answer: HTTPResponse, _ name: String) throws -> CarriedFile {
    guard (200..<300).contains(answer.status) else { throw client.failure(answer) }
    return CarriedFile(
      name: name, size: answer.headers["content-length"].flatMap { Int($0) } ?? 0, tag: Self.tag(answer) ?? "")
  }

  private static func tag(_ answer: HTTPResponse) -> String? {
    answer.headers["etag"].map { $0.trimmingCharacters(in: ["\""]) }
  }
}

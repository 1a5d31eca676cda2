import CExpat
import Foundation

/// What a store answers in XML: a list of objects, or an error. Elements that are not known are passed over.
struct StoreDocument {
  struct Object: Equatable {
    var key = ""
    var size = 0
    var tag = ""
  }

  /// Whether it is a list, however short.
  var isList = false
  var objects: [Object] = []
  /// Whether a list has another page.
  var isTruncated = false
  /// Where its next page begins.
  var nextToken: String?
  /// An error's code and message, and the region that it names.
  var code = ""
  var message = ""
  var region: String?

  /// Nil for what is no XML of a store: what is not well formed, has a document type, or is too deep.
  init?(_ bytes: [UInt8]) {
    let reader = StoreDocumentReader()
    guard reader.read(bytes) else { return nil }
    self = reader.document
    isTruncated = reader.isTruncated
    if !isTruncated { nextToken = nil }
    if reader.isEncoded { for index in objects.indices { objects[index].key = Self.decoded(objects[index].key) } }
  }

  fileprivate init() {}

  /// A key without its percent-encoding, in which a plus sign stands for a space; as it is where that is no text.
  private static func decoded(_ key: String) -> String {
    key.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? key
  }
}

/// Reads a store's answer by the system's Expat (libexpat.github.io), which follows no reference to another place.
private final class StoreDocumentReader {
  /// A store's answers are four elements deep.
  private static let depthLimit = 16

  var document = StoreDocument()
  var isTruncated = false
  /// Whether keys are percent-encoded, as was asked for: a store that does not know of it leaves them as they are.
  var isEncoded = false
  private var text = ""
  private var path: [String] = []
  /// While it reads.
  private var parser: XML_Parser?

  func read(_ bytes: [UInt8]) -> Bool {
    guard let count = Int32(exactly: bytes.count), let parser = XML_ParserCreate(nil) else { return false }
    self.parser = parser
    defer { XML_ParserFree(parser) }
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser, { reader, name, _ in StoreDocumentReader.of(reader).begin(String(cString: name.unsafelyUnwrapped)) },
      { reader, name in StoreDocumentReader.of(reader).end(String(cString: name.unsafelyUnwrapped)) })
    XML_SetCharacterDataHandler(parser) { StoreDocumentReader.of($0).add($1, Int($2)) }
    // No store's answer has a document type, and entities are declared in one.
    XML_SetStartDoctypeDeclHandler(parser) { reader, _, _, _, _ in StoreDocumentReader.of(reader).stop() }
    return withExtendedLifetime(self) {
      bytes.withUnsafeBufferPointer { buffer in
        buffer.withMemoryRebound(to: CChar.self) { XML_Parse(parser, $0.baseAddress, count, 1) == XML_STATUS_OK }
      }
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> StoreDocumentReader {
    // Expat hands back what `read` gave it.
    Unmanaged<StoreDocumentReader>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }

  private func stop() { XML_StopParser(parser, 0) }

  private func begin(_ element: String) {
    guard path.count < Self.depthLimit else { return stop() }
    if path.isEmpty { document.isList = element == "ListBucketResult" }
    path.append(element)
    text = ""
    if element == "Contents" { document.objects.append(StoreDocument.Object()) }
  }

  private func add(_ characters: UnsafePointer<CChar>?, _ count: Int) {
    text += String(decoding: UnsafeRawBufferPointer(start: characters, count: count), as: UTF8.self)
  }

  private func end(_ element: String) {
    // After a stop Expat may still end what it has begun.
    guard path.popLast() != nil else { return }
    let last = document.objects.count - 1
    switch (path.last, element) {
    case ("Contents", "Key"): document.objects[last].key = text
    case ("Contents", "Size"): document.objects[last].size = Int(text) ?? 0
    case ("Contents", "ETag"): document.objects[last].tag = text.trimmingQuotes
    case (_, "EncodingType"): isEncoded = text == "url"
    case (_, "IsTruncated"): isTruncated = text == "true"
    case (_, "NextContinuationToken"): document.nextToken = text
    case ("Error", "Code"): document.code = text
    case ("Error", "Message"): document.message = text
    case ("Error", "Region"): document.region = text
    default: break
    }
  }
}

extension String {
  fileprivate var trimmingQuotes: String {
    var rest = self[...]
    while rest.first == "\"" { rest.removeFirst() }
    while rest.last == "\"" { rest.removeLast() }
    return String(rest)
  }
}

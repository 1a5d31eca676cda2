import Foundation
import FoundationXML
import GodwitBase

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
  /// Where the next page of a list begins; nil for the last one.
  var nextToken: String?
  /// An error's code and message, and the region that it names.
  var code = ""
  var message = ""
  var region: String?

  /// Nil for what is no XML.
  init?(_ bytes: [UInt8]) {
    let reader = StoreDocumentReader()
    let parser = XMLParser(data: Data(bytes))
    parser.shouldResolveExternalEntities = false
    parser.delegate = reader
    guard parser.parse() else { return nil }
    self = reader.document
    if !reader.isTruncated { nextToken = nil }
  }

  fileprivate init() {}
}

private final class StoreDocumentReader: NSObject, XMLParserDelegate {
  var document = StoreDocument()
  var isTruncated = false
  private var text = ""
  private var path: [String] = []

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String] = [:]
  ) {
    // A store's answers are four elements deep.
    guard path.count < 16 else { return parser.abortParsing() }
    if path.isEmpty { document.isList = element == "ListBucketResult" }
    path.append(element)
    text = ""
    if element == "Contents" { document.objects.append(StoreDocument.Object()) }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

  func parser(
    _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
  ) {
    path.removeLast()
    let last = document.objects.count - 1
    switch (path.last, element) {
    case ("Contents", "Key"): document.objects[last].key = text
    case ("Contents", "Size"): document.objects[last].size = Int(text) ?? 0
    case ("Contents", "ETag"): document.objects[last].tag = text.trimmingCharacters(in: ["\""])
    case (_, "IsTruncated"): isTruncated = text == "true"
    case (_, "NextContinuationToken"): document.nextToken = text
    case ("Error", "Code"): document.code = text
    case ("Error", "Message"): document.message = text
    case ("Error", "Region"): document.region = text
    default: break
    }
  }
}

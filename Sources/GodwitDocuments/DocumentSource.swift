import Foundation
import GodwitBase
import GodwitModel

/// A document on its way in: JSON in whatever form the caller has it.
package struct DocumentSource: Sendable {
  private let text: String

  package init(json: String) { text = json }

  package init(_ members: [String: JSON]) throws {
    let object = JSON.object(members)
    try object.checkNumbers()
    text = object.text
  }

  package init(encoding value: some Encodable) throws { text = try JSON.text(encoding: value) }

  /// Lends the bytes of the JSON, which are UTF-8.
  func withBytes<Output>(_ body: (UnsafeRawBufferPointer) throws -> Output) throws -> Output {
    var text = text
    return try text.withUTF8 { buffer in
      guard buffer.count <= JSONScanner.byteLimit else {
        throw GodwitError(.limitExceeded, "the document is larger than \(JSONScanner.byteLimit >> 20) MiB")
      }
      return try body(UnsafeRawBufferPointer(buffer))
    }
  }
}

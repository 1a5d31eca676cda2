import Foundation
import GodwitBase

/// Writes what it is given as armor (C2SP age, "ASCII armor"). Godwit reads armored files and writes none.
package final class AgeArmorWriter: ByteSink {
  private let sink: any ByteSink
  private var content = Data()

  package init(to sink: any ByteSink) { self.sink = sink }

  package func write(_ buffer: UnsafeRawBufferPointer) throws { content.append(contentsOf: buffer) }

  /// Writes all of it, in lines of 64 characters.
  package func finish() throws {
    var text = "-----BEGIN AGE ENCRYPTED FILE-----\n"
    text += content.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    if !content.isEmpty { text += "\n" }
    try sink.write(Array("\(text)-----END AGE ENCRYPTED FILE-----\n".utf8))
  }
}

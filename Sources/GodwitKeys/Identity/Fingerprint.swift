/// Sixteen hexadecimal digits in four groups, short enough to read aloud: the first 64 bits of a SHA-256.
enum Fingerprint {
  static func text(of bytes: [UInt8]) -> String {
    let digits = Array(bytes.withUnsafeBytes { ContentHash(of: $0) }.hexadecimal.prefix(16))
    return stride(from: 0, to: 16, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: "-")
  }
}

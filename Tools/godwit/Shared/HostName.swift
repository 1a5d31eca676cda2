import Foundation

/// What a replica is called where nobody says so.
enum HostName {
  /// The host's name without its domain; asking for more could ask the network.
  static var current: String {
    var buffer = [CChar](repeating: 0, count: 256)
    let result = gethostname(&buffer, buffer.count - 1)
    let bytes = buffer.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }
    let name = String(decoding: bytes, as: UTF8.self)
    return result == 0 && !name.isEmpty ? name : "first"
  }
}

import Foundation

/// A TCP socket on 127.0.0.1.
package struct LoopbackSocket: Sendable {
  package let descriptor: Int32
  package let port: Int

  private init(_ descriptor: Int32, port: Int) {
    self.descriptor = descriptor
    self.port = port
  }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return address
  }

  /// - Parameter port: 0 for any that is free.
  package init(listeningAt port: Int) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    var length = size
    let isReady = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isReady else { throw POSIXError(.EADDRINUSE) }
    self.init(descriptor, port: Int(in_port_t(bigEndian: address.sin_port)))
  }

  package init(connectingTo port: Int) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(port)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else {
      Foundation.close(descriptor)
      throw POSIXError(.ECONNREFUSED)
    }
    self.init(descriptor, port: port)
  }

  package func accepted() -> LoopbackSocket? {
    let other = accept(descriptor, nil, nil)
    return other < 0 ? nil : LoopbackSocket(other, port: port)
  }

  /// Up to 64 KiB; none at the end.
  package func read() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }

  package func write(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Ends the connection by a reset.
  package func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  package func close() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    Foundation.close(descriptor)
  }
}

import Foundation

/// Informs systemd of how a service is, by the datagrams of sd_notify(3). Where nobody asked for that, it does nothing.
package struct ServiceManager: Sendable {
  /// `$NOTIFY_SOCKET`: an absolute path, or a name of the abstract namespace behind `@`.
  private let socket: String?
  /// How often to say that the service is alive: twice in the time that systemd waits for it. Nil when it does not.
  package let watchdogInterval: Duration?

  package init(environment: [String: String] = ProcessInfo.processInfo.environment, process: Int32 = getpid()) {
    socket = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
    watchdogInterval = isMeant && microseconds > 0 && socket != nil ? .microseconds(microseconds / 2) : nil
  }

  /// The service does its work.
  package func ready(_ status: String) { notify(["READY=1", "STATUS=\(status)"]) }

  /// It begins anew, and will be ready again.
  package func reloading() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    notify(["RELOADING=1", "MONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)"])
  }

  package func stopping() { notify(["STOPPING=1", "STATUS=stopping"]) }

  /// It is alive, and this is how it is.
  package func alive(_ status: String) { notify(["WATCHDOG=1", "STATUS=\(status)"]) }

  /// Nobody can do anything about a datagram that is not taken.
  private func notify(_ lines: [String]) {
    guard let socket else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(socket.utf8)
    if name.first == UInt8(ascii: "@") { name[0] = 0 }
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let message = Array(lines.joined(separator: "\n").utf8)
    // An abstract name ends where the address does.
    let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1))
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, size)
      }
    }
  }
}

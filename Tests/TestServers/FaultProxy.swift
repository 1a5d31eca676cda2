import Foundation
import Synchronization

/// Stands in front of a store and does to each new connection what the script says; without a script, or when it is
/// used up, it passes everything on.
package final class FaultProxy: Sendable {
  package enum Fault: Sendable {
    /// Answers by itself, and closes.
    case answer(status: Int, headers: [String] = [], body: String = "")
    /// Passes on so many bytes of the answer, and closes.
    case cut(after: Int)
    /// Resets the connection once the request has begun.
    case reset
    /// Passes the request on, and closes without the answer: what was asked for is done.
    case loseAnswer
    /// Takes the request, and neither answers nor closes.
    case silence
    case pass
  }

  private let listener: LoopbackSocket
  private let target: Int
  private let script = Mutex<[Fault]>([])
  private let accepted = Mutex<[String]>([])
  private let signed = Mutex<[String]>([])

  /// - Parameter target: The port of the store; 0 for none.
  package init(to target: Int = 0) throws {
    listener = try LoopbackSocket(listeningAt: 0)
    self.target = target
    let listener = listener
    Thread.detachNewThread { [weak self] in
      while let client = listener.accepted() {
        guard let self else { return client.close() }
        let fault = script.withLock { $0.isEmpty ? .pass : $0.removeFirst() }
        Thread.detachNewThread { self.serve(client, fault) }
      }
    }
  }

  deinit { listener.close() }

  package var port: Int { listener.port }

  /// What was asked for, by the first lines of requests.
  package var requests: [String] { accepted.withLock { $0 } }

  /// What requests were signed for: key, day, region and service.
  package var scopes: [String] { signed.withLock { $0 } }

  package func plan(_ faults: Fault...) { plan(faults) }

  package func plan(_ faults: [Fault]) { script.withLock { $0 = faults } }

  private func serve(_ client: LoopbackSocket, _ fault: Fault) {
    let request = client.read()
    note(request)
    switch fault {
    case .answer(let status, let headers, let body):
      let lines = ["HTTP/1.1 \(status) X", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
      _ = client.write(Array((lines + ["", body]).joined(separator: "\r\n").utf8))
      // Reads the rest, or the client sees a reset in place of the answer.
      shutdown(client.descriptor, Int32(SHUT_WR))
      while !client.read().isEmpty {}
      client.close()
    case .reset: client.reset()
    case .cut(let count): pass(request, client, count: count)
    case .silence: while !client.read().isEmpty {}
    case .loseAnswer: pass(request, client, count: 0)
    case .pass: pass(request, client, count: .max)
    }
  }

  /// Notes a request's first line. On a connection that stays open each request begins what is read at a time, for who
  /// asks waits for the answer.
  private func note(_ bytes: [UInt8]) {
    let line = String(decoding: bytes.prefix { $0 != 13 }.prefix(2_048), as: UTF8.self)
    guard ["GET ", "HEAD ", "PUT ", "DELETE "].contains(where: line.hasPrefix) else { return }
    accepted.withLock { $0.append(line) }
    let head = String(decoding: bytes.prefix(8_192), as: UTF8.self)
    guard let start = head.range(of: "Credential=") else { return }
    let scope = String(head[start.upperBound...].prefix { $0 != "," })
    signed.withLock { $0.append(scope) }
  }

  private func pass(_ request: [UInt8], _ client: LoopbackSocket, count: Int) {
    guard let store = try? LoopbackSocket(connectingTo: target) else { return client.close() }
    _ = store.write(request)
    Thread.detachNewThread { [self] in
      while true {
        let bytes = client.read()
        note(bytes)
        guard !bytes.isEmpty, store.write(bytes) else { return }
      }
    }
    var left = count
    while true {
      let bytes = store.read()
      guard !bytes.isEmpty, left > 0, client.write(Array(bytes.prefix(left))) else { break }
      left -= min(left, bytes.count)
      if left == 0 { break }
    }
    client.close()
    store.close()
  }
}

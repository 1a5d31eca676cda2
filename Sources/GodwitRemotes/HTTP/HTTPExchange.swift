import CCurl
import Foundation
import GodwitBase
import GodwitFiles

/// What one request has sent and got: the other end of libcurl's callbacks, which run inside ``perform(_:)``.
final class HTTPExchange {
  /// The most that is kept of an answer: a list, an error.
  static let keptLimit = 16 << 20
  private static let headerCountLimit = 256

  private let request: HTTPRequest
  private let meter: TransferMeter
  private var file: FileDescriptor?
  private var received = 0
  private(set) var headers: [String: String] = [:]
  private(set) var body: [UInt8] = []
  /// What a callback failed with.
  private(set) var error: (any Error)?
  private var curl: UnsafeMutableRawPointer?

  init(_ request: HTTPRequest, _ meter: TransferMeter) {
    self.request = request
    self.meter = meter
  }

  func perform(_ curl: UnsafeMutableRawPointer) -> CURLcode {
    self.curl = curl
    defer { self.curl = nil }
    if case .put(let body) = request.method {
      do { file = try FileDescriptor.openPlainForReading(body.path) } catch {
        self.error = error
        return CURLE_READ_ERROR
      }
    }
    return withExtendedLifetime(self) {
      let context = Unmanaged.passUnretained(self).toOpaque()
      godwit_curl_set_pointer(curl, CURLOPT_WRITEDATA, context)
      godwit_curl_set_transfer(curl, CURLOPT_WRITEFUNCTION) { HTTPExchange.of($3).take($0, $1 * $2) }
      godwit_curl_set_pointer(curl, CURLOPT_HEADERDATA, context)
      godwit_curl_set_transfer(curl, CURLOPT_HEADERFUNCTION) { HTTPExchange.of($3).takeHeader($0, $1 * $2) }
      godwit_curl_set_pointer(curl, CURLOPT_READDATA, context)
      godwit_curl_set_transfer(curl, CURLOPT_READFUNCTION) { HTTPExchange.of($3).give($0, $1 * $2) }
      godwit_curl_set_pointer(curl, CURLOPT_SEEKDATA, context)
      godwit_curl_set_seek(curl) { HTTPExchange.of($0).seek(to: $1, $2) }
      godwit_curl_set_pointer(curl, CURLOPT_XFERINFODATA, context)
      godwit_curl_set_progress(curl) { HTTPExchange.of($0).progress($2, $4) }
      godwit_curl_set_long(curl, CURLOPT_NOPROGRESS, 0)
      return godwit_curl_perform(curl)
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPExchange {
    // libcurl hands back what `perform` gave it.
    Unmanaged<HTTPExchange>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// Another count than `count` ends the transfer.
  private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
    do {
      received += count
      if let sink = request.sink, let curl, (200..<300).contains(godwit_curl_status(curl)) {
        guard received <= request.limit else { throw GodwitError.tooLarge("the file", request.limit) }
        try sink.write(buffer)
      } else {
        guard received <= Self.keptLimit else {
          throw GodwitError(
            .refused, "an answer of the store has more than \(Self.keptLimit) bytes",
            hint: "see that the endpoint is the address of an S3 store")
        }
        body.append(contentsOf: buffer)
      }
      meter.spend(count)
      return count
    } catch {
      self.error = error
      return count == 0 ? 1 : 0
    }
  }

  private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    if line.hasPrefix("HTTP/") { headers = [:] }
    if let colon = line.firstIndex(of: ":"), headers.count < Self.headerCountLimit {
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
      headers[line[..<colon].lowercased()] = value
      if line[..<colon].lowercased() == "content-length", let size = Int(value), request.sink != nil,
        size > request.limit, let curl, (200..<300).contains(godwit_curl_status(curl))
      {
        error = GodwitError.tooLarge("the file", request.limit)
        return 0
      }
    }
    return count
  }

  private func give(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    do {
      let count = min(count, meter.pieceLimit ?? count)
      let given = try file?.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count)) ?? 0
      meter.spend(given)
      return given
    } catch {
      self.error = error
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// A request that is sent anew on another connection begins at the start again.
  private func seek(to offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let file, lseek(file.rawValue, off_t(offset), origin) >= 0 else { return CURL_SEEKFUNC_FAIL }
    return CURL_SEEKFUNC_OK
  }

  /// Another number than 0 ends the transfer.
  private func progress(_ received: curl_off_t, _ sent: curl_off_t) -> Int32 {
    meter.moved(Int(max(received, sent)))
    return meter.isCancelled ? 1 : 0
  }
}

import Foundation
import GodwitBase
import GodwitCrypto
import GodwitFiles
import GodwitRemotes
import Synchronization

/// A store in memory that does to its files what stores do (Specs/remotes.md, "Faults"): lists that are old or lack
/// something, answers that are lost, writes that come late, files that are cut, old or gone, a past that comes back.
final class SimulatedStore: Sendable {
  /// A file, or that there is none, since an operation.
  struct Version: Sendable {
    let operation: Int
    let bytes: [UInt8]?
    private let tag: String

    init(operation: Int, bytes: [UInt8]?) {
      (self.operation, self.bytes) = (operation, bytes)
      tag = bytes.map(Self.tag) ?? ""
    }

    static func tag(of bytes: [UInt8]) -> String {
      "\(bytes.count)-\(bytes.withUnsafeBytes { ContentHash(of: $0) }.hexadecimal.prefix(16))"
    }

    /// Nil where there is none.
    func file(named name: String) -> CarriedFile? {
      bytes.map { CarriedFile(name: name, size: $0.count, tag: tag) }
    }
  }

  /// What was asked of it.
  struct Counters: Sendable {
    var lists = 0
    var reads = 0
    var writes = 0
    var removals = 0
    var bytes = 0

    var requests: Int { lists + reads + writes + removals }
  }

  private struct State {
    var generator: SeededGenerator
    /// One operation in so many goes wrong; 0 for none.
    var faultRate = 0
    var operation = 0
    var versions: [String: [Version]] = [:]
    /// The names of each folder in the order in which they came first. Some are random, and a seed's world must not
    /// depend on them.
    var names: [String: [String]] = [:]
    var known: Set<String> = []
    var late: [(name: String, bytes: [UInt8])] = []
    var saved: [String: [Version]]?
    /// Which clients look at an earlier time, and at which.
    var views: [Int: Int] = [:]
    /// How many operations a client has left before its process is killed.
    var fuses: [Int: Int] = [:]
    var counters = Counters()
    /// What each file of a log was when it was put first.
    var logged: [String: [UInt8]] = [:]
    var broken: String?
  }

  /// That the process was killed within an operation, or after it.
  struct Killed: Error {}

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }

  /// What a client sees.
  func client(_ number: Int) -> Client { Client(store: self, number: number) }

  var counters: Counters { state.withLock { $0.counters } }

  /// What may never happen, and did.
  var broken: String? { state.withLock { $0.broken } }

  func setFaults(oneIn rate: Int) { state.withLock { $0.faultRate = rate } }

  /// Kills a client's process after so many operations; nil for never.
  func setFuse(_ operations: Int?, for client: Int) { state.withLock { $0.fuses[client] = operations } }

  // MARK: What happens to all of it

  func save() { state.withLock { $0.saved = $0.versions } }

  /// Goes back to what was saved, as a bucket that was restored.
  func rollBack() {
    state.withLock { state in
      guard let saved = state.saved else { return }
      state.versions = saved
    }
  }

  func empty() { state.withLock { $0.versions = [:] } }

  /// Shows a client what is there now, and nothing later.
  func fork(_ client: Int) { state.withLock { $0.views[client] = $0.operation } }

  /// No more faults, one view for all, and whatever was on its way arrives.
  func heal() {
    state.withLock { state in
      state.faultRate = 0
      state.views = [:]
      state.fuses = [:]
      for (name, bytes) in state.late { Self.put(name, bytes, &state) }
      state.late = []
    }
  }

  // MARK: Operations

  /// Runs one operation of a client, after what is late.
  private func operate<Output>(
    _ client: Int, _ body: (inout State, _ isFaulty: Bool) throws -> Output
  ) throws -> Output {
    try state.withLock { state in
      if let left = state.fuses[client] {
        guard left > 0 else { throw Killed() }
        state.fuses[client] = left - 1
      }
      state.operation += 1
      if !state.late.isEmpty, state.generator.chance(oneIn: 4) {
        let (name, bytes) = state.late.removeFirst()
        Self.put(name, bytes, &state)
      }
      let isFaulty = state.faultRate > 0 && state.generator.chance(oneIn: state.faultRate)
      if isFaulty, state.generator.chance(oneIn: 4) { throw Self.away }
      return try body(&state, isFaulty)
    }
  }

  private static var away: GodwitError { GodwitError(.unreachable, "the simulated store does not answer") }

  /// The file as a client sees it.
  private static func find(_ name: String, at time: Int, _ state: State) -> Version? {
    state.versions[name]?.last { $0.operation <= time }
  }

  private static func folder(of name: String) -> String { String(name.prefix { $0 != "/" }) }

  private static func put(_ name: String, _ bytes: [UInt8], _ state: inout State) {
    if RemoteName(name)?.logNumber != nil, state.logged.updateValue(bytes, forKey: name) ?? bytes != bytes {
      state.broken = state.broken ?? "a number of a log was used twice: \(name)"
    }
    state.versions[name, default: []].append(Version(operation: state.operation, bytes: bytes))
    if state.known.insert(name).inserted { state.names[Self.folder(of: name), default: []].append(name) }
    if state.versions[name, default: []].count > 4 { state.versions[name]?.removeFirst() }
  }

  /// The time that a client sees: now, or an earlier one.
  private static func time(_ client: Int, isFaulty: Bool, _ state: inout State) -> Int {
    let now = state.views[client] ?? state.operation
    guard isFaulty else { return now }
    return max(0, now - Int.random(in: 1...20, using: &state.generator))
  }

  fileprivate func list(_ folder: String, for client: Int) throws -> [CarriedFile] {
    try operate(client) { state, isFaulty in
      state.counters.lists += 1
      let isOld = isFaulty && state.generator.chance(oneIn: 2)
      let time = Self.time(client, isFaulty: isOld, &state)
      var files = state.names[folder, default: []].compactMap { Self.find($0, at: time, state)?.file(named: $0) }
      if isFaulty, !isOld {
        files = files.filter { _ in !state.generator.chance(oneIn: 3) }
        if let first = files.first { files.append(first) }
        files.append(CarriedFile(name: "\(folder)/.nfs0001", size: 7, tag: "x"))
        files.shuffle(using: &state.generator)
      }
      return files
    }
  }

  fileprivate func find(_ name: String, for client: Int) throws -> CarriedFile? {
    try operate(client) { state, isFaulty in
      state.counters.reads += 1
      let time = Self.time(client, isFaulty: isFaulty, &state)
      return Self.find(name, at: time, state)?.file(named: name)
    }
  }

  /// A file that is cut, damaged, old or not there yet.
  fileprivate func read(_ name: String, for client: Int) throws -> [UInt8]? {
    try operate(client) { state, isFaulty in
      state.counters.reads += 1
      let kind = isFaulty ? Int.random(in: 0..<4, using: &state.generator) : -1
      let time = Self.time(client, isFaulty: kind == 0, &state)
      guard var bytes = Self.find(name, at: time, state)?.bytes, kind != 1 else { return nil }
      state.counters.bytes += bytes.count
      if kind == 2 || kind == 3 {
        // At a part of it: how many bytes there are differs a little from run to run.
        let place = Int(state.generator.next() >> 32) * bytes.count >> 32
        if kind == 2 { bytes.removeSubrange(place...) } else { bytes[place] ^= 0x20 }
      }
      return bytes
    }
  }

  /// A write that is dropped, of which the answer is lost, or that comes later than the next ones.
  fileprivate func write(_ name: String, _ bytes: [UInt8], for client: Int) throws -> CarriedFile {
    try operate(client) { state, isFaulty in
      state.counters.writes += 1
      state.counters.bytes += bytes.count
      switch isFaulty ? Int.random(in: 0..<3, using: &state.generator) : 3 {
      case 0: throw Self.away
      case 1:
        Self.put(name, bytes, &state)
        throw Self.away
      case 2:
        state.late.append((name, bytes))
        throw Self.away
      default: Self.put(name, bytes, &state)
      }
      return CarriedFile(name: name, size: bytes.count, tag: Version.tag(of: bytes))
    }
  }

  fileprivate func remove(_ name: String, for client: Int) throws {
    try operate(client) { state, isFaulty in
      state.counters.removals += 1
      guard !isFaulty else { return }
      state.versions[name]?.append(Version(operation: state.operation, bytes: nil))
    }
  }

  /// A store as one machine reaches it.
  struct Client: Carrier {
    let store: SimulatedStore
    let number: Int

    var mayBeAway: Bool { false }

    func list(_ folder: String, meter: TransferMeter) throws -> [CarriedFile] {
      try store.list(folder, for: number)
    }

    func find(_ name: String, meter: TransferMeter) throws -> CarriedFile? { try store.find(name, for: number) }

    func read(_ name: String, into sink: any ByteSink, limit: Int, meter: TransferMeter) throws -> CarriedFile? {
      guard let bytes = try store.read(name, for: number) else { return nil }
      guard bytes.count <= limit else {
        throw GodwitError(.limitExceeded, "\(name) is larger than \(limit) bytes")
      }
      try sink.write(bytes)
      return CarriedFile(name: name, size: bytes.count, tag: SimulatedStore.Version.tag(of: bytes))
    }

    func write(_ name: String, from path: String, meter: TransferMeter) throws -> CarriedFile {
      let file = try FileDescriptor.openPlainForReading(path)
      return try store.write(name, file.readToEnd(limit: .max), for: number)
    }

    /// The same of bytes at hand.
    func put(_ name: String, _ bytes: [UInt8]) throws { _ = try store.write(name, bytes, for: number) }

    func remove(_ name: String, meter: TransferMeter) throws { try store.remove(name, for: number) }

    func honoursConditions(_ name: String, from path: String) throws -> Bool? { false }
  }
}

import Foundation
import Godwit
import GodwitStorage
import Synchronization

/// What a sync with a replica on another host costs (Specs/remotes.md, "Talks"). Both sides start the same programs; in
/// the place of ssh stands one that runs the host's command here.
let hostBenchmarks = [
  Benchmark(
    group: "remotes", name: "10,000 changes synced by ssh", baseline: "export - | ssh HOST import -", budget: 1.15
  ) { context in
    let ssh = try LocalSSH(context)
    let talking = try await HostPair(context, "ssh-talk", ssh)
    let piping = try await HostPair(context, "ssh-pipe", ssh)
    return Benchmark.Sides(
      subject: { try await talking.talk() }, baseline: { try await piping.pipe() },
      reset: {
        for pair in [talking, piping] {
          try await pair.acknowledge()
          try await pair.change()
        }
      },
      finish: { for pair in [talking, piping] { await pair.close() } }, units: 10_000)
  }
]

/// Programs in the place of ssh and of a host's godwit.
private struct LocalSSH: Sendable {
  let program: String

  init(_ context: BenchContext) throws {
    let bin = "\(context.folder)/host-bin"
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    program = "\(context.folder)/ssh"
    try Self.write(
      """
      for word; do last=$word; done
      PATH='\(bin)':$PATH exec sh -c "$last"
      """, to: program)
    let bench = ResidentMemory.program
    // `godwit serve --stdio PATH`, `godwit -C PATH import -`
    try Self.write(
      """
      if [ "$1" = serve ]; then exec '\(bench)' --serve-at "$3"; fi
      exec '\(bench)' --import-at "$2" --import-file -
      """, to: "\(bin)/godwit")
    setenv("GODWIT_SSH", program, 1)
  }

  private static func write(_ script: String, to path: String) throws {
    try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o700)
  }
}

/// A replica here that has changed 10,000 rows in 1,000 transactions, and one of its group on a host.
private final class HostPair: Sendable {
  private static let count = 10_000

  private let pair: SyncPair
  private let ssh: LocalSSH
  private let there: String
  private let rows: Mutex<[CapturedRow]>

  init(_ context: BenchContext, _ name: String, _ ssh: LocalSSH) async throws {
    pair = try await SyncPair(context, name)
    self.ssh = ssh
    let all = CapturedRow.make(Self.count)
    rows = Mutex(all)
    let replica = try await pair.makeReceiver()
    there = replica.path
    try await insert(all, into: pair.sender, batch: 1_000)
    let file = "\(pair.folder)/all"
    _ = try await pair.sender.export(to: .file(file), includesAll: true)
    _ = try await replica.import(from: .file(file))
    await replica.close()
    try await pair.sender.remotes.add("host", at: "ssh://host\(there)")
    try await acknowledge()
    try await change()
  }

  /// Changes one column of each row, ten rows to a transaction.
  func change() async throws {
    let edited = try await edit(rows.withLock { $0 }, by: 1, in: pair.sender, batch: 10)
    rows.withLock { $0 = edited }
  }

  func talk() async throws {
    let report = try await pair.sender.sync(with: ["host"]).remotes[0]
    if let error = report.error { throw error }
    try expect(report.published?.transactions ?? 0, Self.count / 10)
  }

  /// As a shell does: `godwit export - | ssh host godwit -C PATH import -`.
  func pipe() async throws {
    let words = [ssh.program, "host", "godwit -C '\(there)' import -"]
    let program = try await BlockingThread.run { try PipedProgram(words) }
    let sender = pair.sender
    try await program.asStandardOutput {
      try expect(try await sender.export(to: .standardOutput).transactions, Self.count / 10)
    }
    try await BlockingThread.run { try program.finish() }
  }

  /// The host's acknowledgement comes back, and what it has is looked at.
  func acknowledge() async throws {
    let replica = try await Replica.open(at: there, models: CapturedRow.self)
    let views = rows.withLock { $0.reduce(0) { $0 + $1.views } }
    try expect(try await replica.rows("SELECT 1 FROM captured GROUP BY 1 HAVING sum(views) = \(views)").count, 1)
    let file = "\(pair.folder)/back"
    _ = try await replica.export(to: .file(file))
    await replica.close()
    _ = try await pair.sender.import(from: .file(file))
  }

  func close() async { await pair.close() }
}

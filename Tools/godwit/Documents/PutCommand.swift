import ArgumentParser
import Foundation
import Godwit
import Synchronization
import ToolSupport

struct Put: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Write JSON documents into a collection.",
    discussion: """
      Reads arrays of objects, and objects one after another. The key of each is its member _key and its expiry \
      _expires, which are not stored with it, as get writes them; or the key is any member that --key names, which is \
      stored.

      Examples:
        godwit put accounts accounts.json --key id
        godwit get accounts | ssh desk godwit -C notes put accounts
        godwit put countries --at 3166-1 --key alpha_2 /usr/share/iso-codes/json/iso_3166-1.json
        echo '{"name":"Ada"}' | godwit put accounts --as ada
      """)

  /// Documents of one transaction.
  private static let batchCount = 1_000
  private static let batchBytes = 8 << 20

  @Argument(help: "The collection.")
  var collection: String

  @Argument(help: "A file of JSON; - is the standard input.", completion: .file())
  var file = "-"

  @Option(help: ArgumentHelp("The member that is the key.", valueName: "member"))
  var key: String?

  @Option(help: ArgumentHelp("Write the one document under this key.", valueName: "key"))
  var `as`: String?

  @Option(help: ArgumentHelp("Take the array under this member of the file's object.", valueName: "member"))
  var at: String?

  @Flag(help: "Write only the members that are given, and leave the others; null takes one away.")
  var merge = false

  @Option(help: ArgumentHelp("When the documents expire: ISO 8601, or from now: 90m, 12h, 7d.", valueName: "time"))
  var expires: ExpiryArgument?

  @OptionGroup var members: MemberOptions
  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    if key != nil, `as` != nil { throw ValidationError("--key and --as exclude each other") }
    if merge, expires != nil { throw ValidationError("--merge and --expires exclude each other") }
    try options.claimInput([file])
  }

  func run() async throws {
    let stream = try DocumentStream(file, member: at)
    let console = options.console
    let stored = Mutex(0)
    let count = try await options.withReplica { replica in
      let documents = replica.documents(collection, members: members.all)
      let bar = console.progress("putting")
      defer { bar.finish() }
      do {
        while let batch = try nextBatch(stream, after: stored.withLock { $0 }) {
          try await write(batch, to: documents, of: replica, stream.name)
          stored.withLock { $0 += batch.count }
          if let size = stream.size {
            bar.update(Double(stream.offset) / Double(size))
          } else {
            bar.update(count: stored.withLock { $0 }, "document")
          }
        }
      } catch let error as GodwitError {
        throw Self.failure(error, after: stored.withLock { $0 })
      } catch let error as CancellationError {
        console.note("\(Format.count(stored.withLock { $0 }, "document")) put into \(Format.printable(collection))")
        throw error
      }
      return stored.withLock { $0 }
    }
    if options.json {
      try console.line(["collection": .string(collection), "documents": .number(count)])
    } else {
      console.note("\(Format.count(count, "document")) put into \(Format.printable(collection))")
    }
  }

  private static func failure(_ error: GodwitError, after count: Int) -> WriteError {
    let documents = count == 1 ? "the first document is stored" : "the first \(count) documents are stored"
    let stored = count == 0 ? "nothing was stored" : "\(documents), and nothing after"
    // The library speaks of the transaction that failed, and those before it stand.
    let hint = error.hint.map { count == 0 ? $0 : $0.replacingOccurrences(of: "; nothing was changed", with: "") }
    return WriteError(
      GodwitError(error.code, "\(error.message); \(stored)", hint: hint, underlying: error.underlying))
  }

  private func nextBatch(_ stream: DocumentStream, after count: Int) throws -> [PutItem]? {
    var batch: [PutItem] = []
    var bytes = 0
    while batch.count < Self.batchCount, bytes < Self.batchBytes, let document = try stream.next() {
      bytes += document.bytes.count
      guard `as` == nil || count + batch.count == 0 else {
        throw GodwitError(.invalidArgument, "there are several documents, and --as names one key", hint: "use --key")
      }
      batch.append(try PutItem(document, in: stream.name, as: self.as, key: key))
    }
    return batch.isEmpty ? nil : batch
  }

  private func write(
    _ batch: [PutItem], to documents: Documents, of replica: Replica, _ name: String
  ) async throws {
    let merge = merge
    let expires = expires?.date
    try await replica.write { tx in
      for item in batch {
        try item.text.read(in: name) { json in
          if merge {
            try documents.in(tx).merge(item.key, json: json)
            if let expires = item.expires { try documents.in(tx).expire(item.key, at: expires) }
          } else {
            try documents.in(tx).set(item.key, json: json, expires: expires ?? item.expires)
          }
        }
      }
    }
  }
}

/// A time to come on the command line: ISO 8601, or how long from now (`90m`, `12h`, `7d`).
struct ExpiryArgument: ExpressibleByArgument {
  let date: Date

  init?(argument: String) {
    let units: [Character: Double] = ["m": 60, "h": 3_600, "d": 86_400]
    if let unit = argument.last.flatMap({ units[$0] }), let count = Double(argument.dropLast()), count >= 0,
      count * unit < 1e11
    {
      date = Date(timeIntervalSinceNow: count * unit)
    } else if let time = TimeArgument(argument: argument) {
      date = time.date
    } else {
      return nil
    }
  }
}

/// Which members merge in a way of their own.
struct MemberOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A member to which concurrent changes add up. May be repeated.", valueName: "member"))
  var counter: [String] = []

  @Option(help: ArgumentHelp("A member whose concurrent edits are united. May be repeated.", valueName: "member"))
  var set: [String] = []

  var all: [Document.Member] { counter.map { .counter($0) } + set.map { .set($0) } }
}

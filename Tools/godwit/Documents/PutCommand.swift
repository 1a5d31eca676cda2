import ArgumentParser
import Foundation
import Godwit
import ToolSupport

struct Put: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Write JSON documents into a collection.",
    discussion: """
      Reads an array of objects, or one object a line. The key of each is its member _key, which is not stored with it, \
      or any other that --key names, which is.

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

  @Argument(help: "A file of JSON; - is the standard input.")
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
  }

  private struct Item: Sendable {
    let key: String
    let json: String
    let line: Int
  }

  func run() async throws {
    let stream = try DocumentStream(file, member: at)
    let console = options.console
    let count = try await options.withReplica { replica in
      let documents = replica.documents(collection, members: members.all)
      let bar = console.progress("putting")
      defer { bar.finish() }
      var count = 0
      do {
        while let batch = try nextBatch(stream, after: count) {
          try await write(batch, to: documents, of: replica)
          count += batch.count
          if let size = stream.size { bar.update(Double(stream.offset) / Double(size)) }
        }
      } catch let error as GodwitError where count > 0 {
        throw GodwitError(
          error.code, "\(error.message); \(Format.count(count, "document")) before it stored", hint: error.hint,
          underlying: error)
      }
      return count
    }
    if options.json {
      try console.line(["collection": .string(collection), "documents": .number(count)])
    } else {
      console.note("\(Format.count(count, "document")) put into \(collection)")
    }
  }

  private func nextBatch(_ stream: DocumentStream, after count: Int) throws -> [Item]? {
    var batch: [Item] = []
    var bytes = 0
    while batch.count < Self.batchCount, bytes < Self.batchBytes, let document = try stream.next() {
      bytes += document.bytes.count
      guard let text = String(validating: document.bytes, as: UTF8.self) else {
        throw GodwitError(.invalidDocument, "the document in line \(document.line) is not UTF-8")
      }
      guard `as` == nil || count + batch.count == 0 else {
        throw GodwitError(.invalidArgument, "there are several documents, and --as names one key", hint: "use --key")
      }
      batch.append(try Self.naming(document.line) { try item(text, document.line) })
    }
    return batch.isEmpty ? nil : batch
  }

  private func item(_ text: String, _ line: Int) throws -> Item {
    if let key = `as` { return Item(key: key, json: text, line: line) }
    let json = try JSON(text: text)
    let name = key ?? "_key"
    guard case .object(var members) = json else {
      throw GodwitError(.invalidDocument, "it is no object")
    }
    let value: String
    switch members[name] {
    case .string(let text): value = text
    case .integer(let number): value = String(number)
    default:
      throw GodwitError(
        .invalidDocument, "its member \(name) is no text and no whole number",
        hint: "name the member that is the key with --key, or give one document a key with --as")
    }
    guard key == nil else { return Item(key: value, json: text, line: line) }
    members[name] = nil
    return Item(key: value, json: JSON.object(members).text, line: line)
  }

  private func write(_ batch: [Item], to documents: Documents, of replica: Replica) async throws {
    let merge = merge
    let expires = expires?.date
    try await replica.write { tx in
      for item in batch {
        try Self.naming(item.line) {
          if merge {
            try documents.merge(item.key, json: item.json, in: tx)
          } else {
            try documents.set(item.key, json: item.json, expires: expires, in: tx)
          }
        }
      }
    }
  }

  private static func naming<Output>(_ line: Int, _ body: () throws -> Output) throws -> Output {
    do {
      return try body()
    } catch let error as GodwitError {
      throw GodwitError(
        error.code, "the document that starts in line \(line): \(error.message)", hint: error.hint, underlying: error)
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
      date = Date(timeIntervalSince1970: Double(time.milliseconds) / 1_000)
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

  var all: [DocumentMember] { counter.map { .counter($0) } + set.map { .set($0) } }
}

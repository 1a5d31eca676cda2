import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitEngine
import GodwitStorage
import GodwitSyncFile

extension SyncSource.Inspection {
  /// Called with each transaction of a file that is inspected, as it comes: before the file's end, and so its
  /// signature, has been seen.
  public typealias Handler = @Sendable (LoggedTransaction) throws -> Void
}

extension Replica {
  /// What a sync file is, and with this replica's key what it says and holds. Nothing is taken in or changed. It takes
  /// the memory of one frame.
  ///
  /// - Parameters:
  ///   - source: The file, whoever it is for.
  ///   - onTransaction: Called with each transaction.
  /// - Throws: `corruptFile`, `truncatedFile`, `unsupportedVersion`, `limitExceeded`, and `unknownBase` for a file from
  ///   a large group's remote. A signature that does not fit is no error here.
  public func inspect(
    _ source: SyncSource, onTransaction: SyncSource.Inspection.Handler? = nil
  ) async throws -> SyncSource.Inspection {
    try await Self.inspect(source, keysOf: folder, onTransaction: onTransaction)
  }

  /// The same with the keys of the replica in a folder, whose database is not opened, or with no keys at all.
  ///
  /// - Parameters:
  ///   - source: The file, whoever it is for.
  ///   - path: The replica's folder; nil to show only what anybody can see.
  ///   - key: Where the keys are.
  ///   - onTransaction: Called with each transaction.
  /// - Throws: As ``inspect(_:onTransaction:)``, and what opening the keyring throws.
  public static func inspect(
    _ source: SyncSource, at path: String?, key: Replica.KeySource = .keyring(),
    onTransaction: SyncSource.Inspection.Handler? = nil
  ) async throws -> SyncSource.Inspection {
    try await inspect(source, keysOf: path.map { ReplicaFolder($0, key: key) }, onTransaction: onTransaction)
  }

  /// Reads a sync file to its end and checks what an import would check of the file itself: form, limits, hash chains,
  /// counts, and that a member of this group made and signed it. Nothing is taken in or changed.
  ///
  /// - Parameters:
  ///   - source: The file.
  ///   - path: The folder of the replica whose keys open it; its database is not opened.
  ///   - key: Where the keys are.
  /// - Throws: As an import: `notARecipient`, `unknownSender`, `otherGroup`, `invalidSignature`, also for transactions
  ///   that an import leaves out since their author has not signed them, and what
  ///   ``inspect(_:onTransaction:)`` throws.
  @discardableResult
  public static func verify(
    _ source: SyncSource, at path: String, key: Replica.KeySource = .keyring()
  ) async throws -> SyncSource.Inspection {
    let inspection = try await inspect(source, at: path, key: key)
    try inspection.requireSound()
    return inspection
  }

  private static func inspect(
    _ source: SyncSource, keysOf folder: ReplicaFolder?, onTransaction: SyncSource.Inspection.Handler?
  ) async throws -> SyncSource.Inspection {
    try await BlockingThread.run {
      var inspector: SyncFileInspector?
      if let folder {
        let contents = try Keyring.open(at: folder.keys)
        inspector = SyncFileInspector(
          replica: contents.identity.replica, identities: try contents.ageIdentities,
          // An identity that has not joined yet belongs to no group.
          roster: Roster(
            group: contents.group ?? GroupID(Identifier128(high: 0, low: 0)), trusted: try contents.roster))
      }
      return try explaining { try source.read { try SyncSource.Inspection($0, inspector, onTransaction) } }
    }
  }
}

extension SyncSource.Inspection {
  /// Reads the source to its end.
  init(_ source: any ByteSource, _ inspector: SyncFileInspector?, _ onTransaction: SyncSource.Inspection.Handler?)
    throws
  {
    let counter = CountingSource(source)
    let envelope = try AgeEnvelope(counter, allowsArmor: true)
    var content: Content?
    do {
      content = try inspector?.inspect(envelope, onTransaction: onTransaction)
    } catch let error as GodwitError where error.code == .notARecipient {
      // A missing content says so.
    }
    try counter.readToEnd()
    let counts = Dictionary(grouping: envelope.stanzaTypes) { $0 }.mapValues(\.count)
    self.init(
      bytes: counter.count, headerBytes: envelope.headerByteCount, isArmored: envelope.isArmored,
      stanzas: counts.sorted { $0.key < $1.key }.map { Stanzas(kind: $0.key, count: $0.value) }, content: content)
  }

  /// Throws unless an import would take the file for whole and a member's.
  func requireSound() throws {
    guard !isArmored else {
      throw GodwitError(.unsupportedVersion, "the file is an armored age file", hint: "seal it again without armor")
    }
    guard let content else {
      throw GodwitError(
        .notARecipient, "the file is sealed to other recipients",
        hint: "ask its sender to add this replica as a member and export again")
    }
    guard content.isOwnGroup else {
      throw GodwitError(
        .otherGroup, "the file belongs to group \(content.group)", hint: "verify it with a replica of that group")
    }
    switch content.signature {
    case .verified:
      guard content.ranges.allSatisfy(\.isSigned) else {
        throw GodwitError(
          .invalidSignature, "the file has transactions that their author has not signed",
          hint: "see: godwit inspect FILE; what their author makes has them as they are")
      }
    case .invalid: throw SyncFileReader.invalidSignature()
    case .unknownSender:
      throw GodwitError(
        .unknownSender, "the file was made by \(content.sender), which is no member of this group",
        hint: "a member adds it with: godwit member add IDENTITY")
    case .replacedKey: throw SyncFileReader.replacedKey()
    case .removedSender:
      throw GodwitError(
        .unknownSender, "the file was made by \(content.sender), which was removed from this group",
        hint: "to let it back in: godwit member add")
    }
  }
}

/// Counts the bytes on their way.
private final class CountingSource: ByteSource {
  private let source: any ByteSource
  private(set) var count = 0

  init(_ source: any ByteSource) { self.source = source }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let read = try source.read(into: buffer)
    count += read
    return read
  }

  /// Reads what nobody has read.
  func readToEnd() throws {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while try buffer.withUnsafeMutableBytes({ try read(into: $0) }) > 0 {}
  }
}

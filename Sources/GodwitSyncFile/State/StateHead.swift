import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// What a state file says of the origins whose transactions its state comes from (Specs/state-file.md, "Head").
package struct StateHead: Sendable {
  /// How far an origin's transactions are in the state, and from where on they follow one by one.
  package struct Origin: Sendable {
    package let origin: GodwitCore.Origin
    package let sequence: SequenceNumber
    package let chain: ContentHash
    /// Up to which sequence the row states know its transactions.
    package let folded: SequenceNumber
    /// Up to which sequence its transactions have been forgotten, the chain there, and the context from there on.
    package let floor: SequenceNumber
    package let floorChain: ContentHash
    package let floorContext: VersionVector
    /// That the origin's author has written all of it.
    package let proof: HeadProof

    package init(
      origin: GodwitCore.Origin, sequence: SequenceNumber, chain: ContentHash, folded: SequenceNumber,
      floor: SequenceNumber, floorChain: ContentHash, floorContext: VersionVector, proof: HeadProof
    ) {
      self.origin = origin
      self.sequence = sequence
      self.chain = chain
      self.folded = folded
      self.floor = floor
      self.floorChain = floorChain
      self.floorContext = floorContext
      self.proof = proof
    }

    /// The head that its author is said to have signed.
    package var head: SignedHead { proof.head(of: origin, sequence, chain) }
  }

  package let origins: [Origin]
  /// The sender's greatest timestamp.
  package let clock: HLC

  package init(origins: [Origin], clock: HLC) {
    self.origins = origins
    self.clock = clock
  }

  /// All that the state knows.
  package var vector: VersionVector {
    VersionVector(Dictionary(uniqueKeysWithValues: origins.map { ($0.origin, $0.sequence) }))
  }

  /// What cannot be had one by one any more.
  package var floor: VersionVector {
    VersionVector(Dictionary(uniqueKeysWithValues: origins.map { ($0.origin, $0.floor) }))
  }

  package var transactionCount: Int {
    origins.reduce(0) { $0 + Int($1.sequence.rawValue - $1.floor.rawValue) }
  }
}

extension StateHead {
  func write(to writer: inout ByteWriter) {
    writer.bigEndian(clock.rawValue)
    writer.varint(origins.count)
    for origin in origins {
      origin.origin.write(to: &writer)
      for sequence in [origin.sequence, origin.folded, origin.floor] { writer.varint(sequence.rawValue) }
      writer.raw(origin.chain.bytes)
      writer.raw(origin.floorChain.bytes)
      origin.floorContext.write(to: &writer)
      origin.proof.write(to: &writer)
    }
  }

  init(reading reader: inout ByteReader) throws {
    clock = HLC(rawValue: try reader.bigEndian())
    guard clock < HLC.limit else { throw ByteReader.malformed("a timestamp is out of range") }
    let count = try reader.count(limit: VersionVector.originLimit, "origins of a state file")
    origins = try (0..<count).map { _ in try Origin(reading: &reader) }
    for (left, right) in zip(origins, origins.dropFirst()) where left.origin >= right.origin {
      throw ByteReader.malformed("the origins of a state file are not in order")
    }
  }
}

extension StateHead.Origin {
  fileprivate init(reading reader: inout ByteReader) throws {
    origin = try GodwitCore.Origin(reading: &reader)
    sequence = try SequenceNumber(reading: &reader)
    folded = SequenceNumber(rawValue: try reader.varint())
    floor = SequenceNumber(rawValue: try reader.varint())
    guard floor <= folded, folded <= sequence else { throw ByteReader.malformed("an origin's floor in a state file") }
    chain = try ContentHash(reading: &reader)
    floorChain = try ContentHash(reading: &reader)
    floorContext = try VersionVector(reading: &reader)
    proof = try HeadProof(reading: &reader)
    guard floor > .none || floorChain == .zero && floorContext.isEmpty else {
      throw ByteReader.malformed("something comes before an origin's first transaction")
    }
    try floorContext.expectOthers(than: origin)
  }
}

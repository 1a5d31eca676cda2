import Foundation
import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitEngine

extension SyncSource {
  /// What a sync file is, without taking anything of it in: what anybody can see of it, and, with a key that opens it,
  /// what it says and holds.
  public struct Inspection: Sendable {
    /// How many ways of one kind there are to the file's key.
    public struct Stanzas: Sendable, Hashable {
      /// The kind as age names it: `X25519`, `mlkem768x25519`, `scrypt`, or another.
      public let kind: String
      /// How many there are.
      public let count: Int
    }

    /// Bytes of the sealed file.
    public let bytes: Int
    /// Bytes of its age header.
    public let headerBytes: Int
    /// Whether the file is armored; imports refuse it then.
    public let isArmored: Bool
    /// To how many keys of which kinds it is sealed.
    public let stanzas: [Stanzas]
    /// What a key that opens it shows; nil when there is none here.
    public let content: Content?

    /// What a sync file says and holds.
    public struct Content: Sendable {
      /// The format's version.
      public let formatVersion: Int
      /// The group it belongs to.
      public let group: GroupID
      /// Whether that is the group of who looks at it.
      public let isOwnGroup: Bool
      /// The replica that made it, and its incarnation.
      public let sender: ReplicaID
      /// The sender's incarnation.
      public let incarnation: Incarnation.ID
      /// In milliseconds since 1970 UTC.
      package let milliseconds: Int64
      /// When it was made by the sender's clock, milliseconds since 1970 UTC.
      public var time: Date { Date(milliseconds: milliseconds) }
      /// The sender's schema version.
      public let schemaVersion: UInt64
      /// Whether it carries the whole state in place of changes.
      public let isStateFile: Bool
      /// Whom it is sealed to.
      public let recipients: [Recipient]
      /// The transactions it carries, by who wrote them.
      public let ranges: [Range]
      /// The sender's synced tables, and what the file has for each; those of other members that the sender does not
      /// know behind them.
      public let tables: [Table]
      /// How many migrations the sender knows.
      public let migrations: Int
      /// Transactions in it.
      public let transactions: Int
      /// What the sender has applied of each origin: its acknowledgement.
      public let applied: [Position]
      /// Up to where transactions of an origin wait at the sender, for a schema version or for others: nobody needs to
      /// send them to it again.
      public let waiting: [Position]
      /// Up to where the sender has forgotten the transactions one by one.
      public let forgotten: [Position]
      /// What its sender and others have signed of what they have applied: acknowledgements that it passes on.
      public let acknowledgements: [Acknowledgement]
      /// The tags of what a later version of the format says besides.
      public let unknownFields: [UInt32]
      /// How large its parts are.
      public let sizes: Sizes
      /// Whose it is.
      public let signature: Signature
      /// The members as this replica knows them, with what the file says of them where members have signed that.
      public let members: [Member]
    }

    /// A key that the file is sealed to.
    public struct Recipient: Sendable, Hashable {
      /// The member it belongs to; nil when no such member is known.
      public let replica: ReplicaID?
      /// Sixteen hexadecimal digits in four groups: of the member's identity, or else of the key itself.
      public let fingerprint: String
    }

    /// A run of transactions of one origin.
    public struct Range: Sendable, Hashable {
      /// The replica that wrote them.
      public let replica: ReplicaID
      /// Its incarnation.
      public let incarnation: Incarnation.ID
      /// Their sequence numbers.
      public let sequences: ClosedRange<UInt64>
      /// Whether their author is a member, or was one, and has signed them; without that an import leaves them out.
      public let isSigned: Bool
    }

    /// How far an origin's transactions go.
    public struct Position: Sendable, Hashable {
      /// The replica.
      public let replica: ReplicaID
      /// Its incarnation.
      public let incarnation: Incarnation.ID
      /// The sequence number.
      public let sequence: UInt64
    }

    /// What an incarnation of a member has applied, signed by itself.
    public struct Acknowledgement: Sendable, Hashable {
      /// The replica that made it.
      public let replica: ReplicaID
      /// Its incarnation.
      public let incarnation: Incarnation.ID
      /// In milliseconds since 1970 UTC.
      package let milliseconds: Int64
      /// When it was made by its maker's clock, milliseconds since 1970 UTC.
      public var time: Date { Date(milliseconds: milliseconds) }
      /// What its maker had applied of each origin.
      public let applied: [Position]
      /// Whether the signature is its maker's, who is an active member. Others are not believed.
      public let isSigned: Bool
    }

    /// What the file has for a table.
    public struct Table: Sendable {
      /// The operations of the transactions.
      public let changes: LogEntry.TableChanges
      /// Rows of a state file.
      public let rows: Int
    }

    /// Sizes in bytes.
    public struct Sizes: Sendable, Hashable {
      /// The container inside age.
      public let container: Int
      /// Its header.
      public let header: Int
      /// How many frames it has, or blocks of a state file.
      public let frames: Int
      /// All frames as they are.
      public let packed: Int
      /// All frames unpacked.
      public let unpacked: Int
    }

    /// Whose signature a file has.
    public enum Signature: String, Sendable {
      /// The sender's, who is a member.
      case verified
      /// Not the sender's. Whoever can open the file may have made it.
      case invalid
      /// The sender is no member that is known here, so nobody can check it.
      case unknownSender
      /// The sender was removed from the group; its signature is not looked at.
      case removedSender
      /// The sender is a member, and has replaced the key since that the file was signed with.
      case replacedKey
    }
  }
}

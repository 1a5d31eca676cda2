import GodwitBase
import GodwitEngine
import GodwitRemotes

extension Replica {
  /// What a sync did, remote by remote.
  public struct SyncReport: Sendable {
    /// In the order in which they were synced.
    public let remotes: [Remote]

    /// What a sync did at one remote.
    public struct Remote: Sendable {
      /// What this replica calls it.
      public let name: String
      /// What was taken from other members, file by file.
      public internal(set) var taken: [MergeReport] = []
      /// Files that were fetched and refused; nothing of them was taken.
      public internal(set) var refused: [Refusal] = []
      /// Bytes that were fetched.
      public internal(set) var fetchedBytes = 0
      /// What was published; nil when this replica had nothing to say that it had not said there.
      public internal(set) var published: ExportReport?
      /// A whole state that was published for members that need one.
      public internal(set) var publishedState: ExportReport?
      /// What was put into the log that this replica keeps there, when it collects.
      public internal(set) var publishedLog: ExportReport?
      /// Bytes of files that were published for what files of a large group have in common.
      public internal(set) var publishedBaseBytes = 0
      /// What is to be known of the remote besides. Nothing was lost by it.
      public internal(set) var findings: Set<Finding> = []
      /// How long the sync took.
      public internal(set) var duration = Duration.zero
      /// How often a folder or store was asked for what, and how that ended.
      package internal(set) var requests: [CountedCarrier.Kind: Int] = [:]
      /// What ended the sync of this remote; nil when it is whole. What was taken and published before stays.
      public internal(set) var error: GodwitError?
    }

    /// A file that was not taken.
    public struct Refusal: Sendable {
      /// Its name at the remote.
      public let name: String
      /// What it was refused for.
      public let error: GodwitError
    }

    /// How a remote differs from what this replica left there, or from what it needs.
    public enum Finding: String, Sendable {
      /// This replica's file was gone, and was published again.
      case emptied
      /// An earlier file of this replica's was there, and was replaced.
      case rolledBack
      /// A copy of this replica writes there. This one has begun a new incarnation.
      case cloned
      /// This replica lacks what the others have forgotten, or has written something without it, which they leave out.
      /// A sync that rejoins mends that, once a member has published a state.
      case needsState
      /// A member said more than a day ago that it holds what did not come, and nothing that is there was refused. It
      /// comes once a member notices that its file there is an earlier one, or by any other way.
      case withheld
    }
  }

  /// How far a sync is.
  public struct SyncProgress: Sendable {
    /// Which way bytes go.
    public enum Direction: Sendable {
      /// From the remote.
      case fetching
      /// To the remote.
      case publishing
    }

    /// The remote's name.
    public let remote: String
    /// Which way bytes go.
    public let direction: Direction
    /// Bytes of the present file that are through.
    public let bytes: Int
    /// Bytes that the present file has; of the next file of a log, whose size nobody has said, as many as are through.
    public let total: Int
  }

  /// Is called on its own threads while a sync moves bytes.
  public typealias SyncProgressHandler = @Sendable (SyncProgress) -> Void
}

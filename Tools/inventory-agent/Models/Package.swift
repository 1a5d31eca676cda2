import Godwit

/// A package that a machine has installed, or could install.
struct Package: Model, Equatable {
  static let schema = Schema<Self>("package") {
    Column("machine", \.machine).references(Machine.self, onDelete: .cascade)
    Column("name", \.name)
    Column("version", \.version)
    Column("architecture", \.architecture)
    Column("section", \.section)
    Column("installed_size", \.installedSizeKiB)
    Column("description", \.description)
    Column("is_installed", \.isInstalled)
    Column("note", \.note)
    Column("is_pinned", \.isPinned)
    Index(\.machine, \.name)
  }

  var id = RecordID<Package>()
  var machine = Machine.ID()
  var name = ""
  var version = ""
  /// Debian's name of the architecture, `all` for packages that serve every one.
  var architecture = ""
  var section = ""
  /// KiB on disk, or nil when the package does not say.
  var installedSizeKiB: Int?
  /// The synopsis, then the long text if there is one, on lines of their own.
  var description = ""
  var isInstalled = false
  /// What people write about it; a scan never touches it.
  var note = ""
  /// Whether people want it kept as it is; a scan never touches it.
  var isPinned = false
}

extension Package {
  /// One machine holds at most one version of a name and architecture.
  struct Identity: Hashable, Comparable {
    let name: String
    let architecture: String

    static func < (left: Self, right: Self) -> Bool {
      (left.name, left.architecture) < (right.name, right.architecture)
    }
  }

  var identity: Identity { Identity(name: name, architecture: architecture) }

  /// The same row with what a scan found, and its own note and pin.
  func updated(from found: Package) -> Package {
    var package = found
    package.id = id
    package.machine = machine
    package.note = note
    package.isPinned = isPinned
    return package
  }
}

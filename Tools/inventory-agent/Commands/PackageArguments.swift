import ArgumentParser

/// The arguments that choose packages by name.
struct PackageArguments: ParsableArguments {
  @Argument(help: "The package's name.")
  var name: String

  @Option(help: "The machine. (default: the only one, or this host)")
  var machine: String?

  @Option(help: "Only the package of this architecture.")
  var architecture: String?

  var selector: PackageSelector {
    PackageSelector(machine: MachineSelector(name: machine), name: name, architecture: architecture)
  }
}

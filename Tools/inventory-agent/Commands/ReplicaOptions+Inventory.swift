import ToolSupport

extension ReplicaOptions {
  /// Runs the body with the inventory of the replica that is there already, and closes it whatever happens.
  func withInventory<Output>(_ body: (Inventory) async throws -> Output) async throws -> Output {
    let location = try locator.existing()
    let inventory = try await Inventory.open(at: location.folder, key: location.keys)
    do {
      let output = try await body(inventory)
      await inventory.close()
      return output
    } catch {
      await inventory.close()
      throw error
    }
  }
}

extension Console {
  /// Writes what a command did: as JSON where that is asked for, else in words unless asked to be quiet.
  func report(_ json: JSONValue, _ words: String) throws {
    if usesJSON {
      try line(json)
    } else if !isQuiet {
      try line(words)
    }
  }

  /// Writes how many packages a command was about, such as `pinned 2 packages`.
  func report(_ verb: String, packages count: Int) throws {
    try report(["packages": .number(count)], "\(verb) \(Format.count(count, "package"))")
  }
}

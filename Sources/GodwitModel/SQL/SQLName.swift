/// Names of tables and columns as SQL identifiers.
package enum SQLName {
  /// The name between double quotes, so that it can never be read as anything but a name.
  package static func quoted(_ name: String) -> String {
    "\"\(name.replacing("\"", with: "\"\""))\""
  }
}

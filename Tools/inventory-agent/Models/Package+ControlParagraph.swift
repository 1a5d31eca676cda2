extension Package {
  /// The fields that ``init(_:of:isInstalled:)`` reads.
  static let controlFields = [
    "Package", "Version", "Architecture", "Section", "Installed-Size", "Description", "Status",
  ]

  /// The package that a paragraph describes.
  ///
  /// - Throws: `missingField` without a name, version or architecture; `malformedValue` for a size that is no number.
  init(_ paragraph: ControlParagraph, of machine: Machine.ID, isInstalled: Bool) throws(ControlSyntaxError) {
    self.machine = machine
    self.isInstalled = isInstalled
    name = try paragraph.required("Package")
    version = try paragraph.required("Version")
    architecture = try paragraph.required("Architecture")
    section = paragraph["Section"] ?? ""
    description = paragraph["Description"] ?? ""
    guard let size = paragraph["Installed-Size"] else { return }
    guard let kibibytes = Int(size), kibibytes >= 0 else {
      throw ControlSyntaxError(problem: .malformedValue("Installed-Size"), line: paragraph.line)
    }
    installedSizeKiB = kibibytes
  }
}

extension ControlParagraph {
  /// Whether dpkg says that the package is installed whole. Of the three words of Status, such as
  /// `hold ok installed`, the first is what the administrator wants and the last is what there is.
  var isInstalledPackage: Bool { self["Status"]?.split(separator: " ").last == "installed" }
}

import Godwit

extension ExportReport {
  /// Specs/cli.md, "export".
  package func json(_ file: String) -> JSONValue {
    [
      "file": .string(file), "transactions": .number(transactions), "recipients": .number(recipients),
      "bytes": .number(bytes), "stateFile": .bool(isStateFile), "files": .array(files.map(\.json)),
      "earlierFiles": .array(earlierFiles.map { .string($0) }),
    ]
  }
}

extension ExportReport.File {
  /// Specs/cli.md, "export".
  fileprivate var json: JSONValue {
    [
      "file": .string(path), "transactions": .number(transactions), "bytes": .number(bytes),
      "exceedsLimit": .bool(exceedsLimit),
    ]
  }
}

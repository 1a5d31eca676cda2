import Foundation
import Testing

extension Machine {
  /// Runs the program again and again, and ends it by SIGKILL before it asks the system for the first of these calls
  /// the first time, the second time and so on, then likewise for the others. Each of its threads counts for itself.
  ///
  /// - Parameters:
  ///   - names: The calls.
  ///   - step: Of how many calls one is taken.
  ///   - prepare: What each run finds.
  ///   - check: Looks at what is left each time; also once after a run that came to its own end.
  func killEverywhere(
    _ arguments: [String], calls names: [String], step: Int = 1, prepare: () throws -> Void = {},
    check: (_ place: String, _ isKilled: Bool) async throws -> Void
  ) async throws {
    for name in names {
      var count = 1 - step
      var isKilled = true
      while isKilled {
        count += step
        try prepare()
        let outcome = try run(arguments, injecting: "signal=SIGKILL:when=\(count)", into: name)
        isKilled = outcome.status == 9
        try #require(isKilled || outcome.status == 0, "\(arguments): \(outcome.error)")
        try await check("\(name) \(count)", isKilled)
      }
    }
  }

  /// Runs the program under strace(1), and returns the lines of its log about these calls, with the paths of
  /// descriptors.
  func lines(of arguments: [String], tracing names: String) throws -> [String] {
    let log = path("calls")
    let process = process(["-f", "-y", "-o", log, "-e", "trace=\(names)", Program.path] + arguments)
    process.executableURL = URL(fileURLWithPath: SystemCalls.program)
    let outcome = try Self.finish([process], input: Data(), in: self)
    try #require(outcome.status == 0, "\(outcome.error)")
    defer { unlink(log) }
    return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// Runs the program while strace(1) does something at calls of these names.
  func run(_ arguments: [String], injecting action: String, into names: String) throws -> Outcome {
    let process = process(
      ["-f", "-o", "/dev/null", "-e", "trace=\(names)", "-e", "inject=\(names):\(action)", Program.path] + arguments)
    process.executableURL = URL(fileURLWithPath: SystemCalls.program)
    return try Self.finish([process], input: Data(), in: self)
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests that need strace(1).
  static var seesSystemCalls: Self {
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: SystemCalls.program),
      "no strace: Debian has it in a package of that name")
  }
}

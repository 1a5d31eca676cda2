import Foundation

/// What libFuzzer calls (llvm.org/docs/LibFuzzer.html): its own `main` is the program's. GODWIT_FUZZ_TARGET names the
/// decoder; the environment has the name, because libFuzzer starts itself anew with its own arguments.
private enum Fuzzer {
  static let target = ProcessInfo.processInfo.environment["GODWIT_FUZZ_TARGET"].flatMap(FuzzTarget.named)

  static func writeStarts(to folder: String) throws {
    for target in FuzzTarget.all {
      let place = "\(folder)/\(target.name)"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      for (name, bytes) in try target.starts() where !FileManager.default.fileExists(atPath: "\(place)/\(name)") {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(place)/\(name)"))
      }
    }
  }

  /// A fault ends the process, by which libFuzzer knows and keeps the input.
  static func judge(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      try target?.judge(Array(bytes))
    } catch {
      fatalError("\(error)")
    }
  }
}

/// Called once. With `--list` prints the decoders' names, with `--starts FOLDER` writes inputs to start from that are
/// not there yet.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
  if CommandLine.arguments.contains("--list") {
    for target in FuzzTarget.all { print(target.name) }
    exit(0)
  }
  if let place = CommandLine.arguments.firstIndex(of: "--starts") {
    do {
      for folder in CommandLine.arguments[(place + 1)...].prefix(1) { try Fuzzer.writeStarts(to: folder) }
      exit(0)
    } catch {
      fatalError("\(error)")
    }
  }
  guard Fuzzer.target != nil else {
    FileHandle.standardError.write(Data("GODWIT_FUZZ_TARGET names no decoder; see --list\n".utf8))
    exit(64)
  }
  return 0
}

/// Called for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Fuzzer.judge(UnsafeBufferPointer(start: bytes, count: count))
  return 0
}

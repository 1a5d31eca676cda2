import Foundation

/// libFuzzer's driver (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ testOneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Fuzzes the decoder that GODWIT_FUZZ_TARGET names; arguments are libFuzzer's. With `--list` it prints all names. The
/// environment has the name, because libFuzzer starts itself anew with its own arguments.
@main
enum Fuzzer {
  private static let target = ProcessInfo.processInfo.environment["GODWIT_FUZZ_TARGET"].flatMap(FuzzTarget.named)

  static func main() {
    guard !CommandLine.arguments.contains("--list") else {
      for target in FuzzTarget.all { print(target.name) }
      return
    }
    guard target != nil else {
      FileHandle.standardError.write(Data("GODWIT_FUZZ_TARGET names no decoder; see --list\n".utf8))
      exit(64)
    }
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(runDriver(&count, &arguments) { bytes, count in
      Fuzzer.judge(UnsafeBufferPointer(start: bytes, count: count))
      return 0
    })
  }

  /// A fault ends the process, by which libFuzzer knows and keeps the input.
  private static func judge(_ bytes: UnsafeBufferPointer<UInt8>) {
    do {
      try target?.judge(Array(bytes))
    } catch {
      fatalError("\(error)")
    }
  }
}

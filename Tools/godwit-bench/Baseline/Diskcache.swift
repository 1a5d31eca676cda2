import Foundation

/// Python's diskcache on the same keys and sizes, printed beside the cache's rows and not gated: it does not encrypt.
enum Diskcache {
  private static let script = """
    import sys, time, random
    sys.path.insert(0, sys.argv[1] + '/packages')
    import diskcache
    cache = diskcache.Cache(sys.argv[1] + '/cache', eviction_policy='least-recently-used')
    count = int(sys.argv[2])
    keys = ['key-%d' % number for number in range(count)]
    random.shuffle(keys)
    value = b'x' * 1000
    def put():
        for start in range(0, count, 1000):
            with cache.transact():
                for key in keys[start:start + 1000]:
                    cache.set(key, value)
    put()
    begin = time.perf_counter(); put(); set_time = time.perf_counter() - begin
    begin = time.perf_counter()
    for key in keys:
        cache.get(key)
    get_time = time.perf_counter() - begin
    print('diskcache %s: get %.1f us, set %.1f us (%d keys of 1 kB, no encryption, not gated)' % (
        diskcache.__version__, get_time / count * 1e6, set_time / count * 1e6, count))
    """

  /// A line about it, or why there is none.
  static func line(_ context: BenchContext) -> String {
    let folder = "\(context.folder)/diskcache"
    let skipped = "diskcache: skipped, "
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", "\(folder)/packages"]
      if try run(["-c", "import diskcache"]) == nil, try run(install + ["diskcache"]) == nil {
        return skipped + "for pip cannot install it here"
      }
      let count = min(context.rowCount, 20_000)
      return try run(["-c", script, folder, "\(count)"]) ?? skipped + "for it does not run here"
    } catch {
      return skipped + "for there is no python3"
    }
  }

  /// What it writes, or nil when it fails.
  private static func run(_ arguments: [String]) throws -> String? {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

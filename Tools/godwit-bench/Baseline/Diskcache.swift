/// Python's diskcache on the same keys and sizes: it does not encrypt.
enum Diskcache {
  private static let peer = PythonPeer(
    name: "diskcache", packages: ["diskcache"],
    script: """
      import time, random, diskcache
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
      """)

  /// A line about it, or why there is none.
  static func line(_ context: BenchContext) -> String {
    peer.line(in: "\(context.folder)/diskcache", ["\(min(context.rowCount, 20_000))"])
  }
}

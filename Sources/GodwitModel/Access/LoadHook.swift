/// A model that fills properties of its own when it has been read from a row.
public protocol LoadHook: Model {
  /// Called for each row fetched, when every column has been read: the place to fill properties that are not stored.
  mutating func didLoad()
}

extension LoadHook {
  static func hasLoaded(at model: UnsafeMutableRawPointer) {
    model.assumingMemoryBound(to: Self.self).pointee.didLoad()
  }
}

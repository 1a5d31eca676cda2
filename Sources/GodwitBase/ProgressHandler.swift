/// Is called with how much of the work is done, from 0 to 1, never with less than before.
public typealias ProgressHandler = @Sendable (Double) -> Void
